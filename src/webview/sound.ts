// Plays a short sound that is generated here, without a file.

const NOTES = [660, 880];
const SECONDS = 0.12;

export function playSound(): void {
  const context = new AudioContext();
  // Browsers suspend it until the user has interacted with the page.
  void context.resume().catch(() => undefined);
  NOTES.forEach((frequency, index) => {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const start = context.currentTime + index * SECONDS;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.08, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + SECONDS);
  });
  setTimeout(() => void context.close().catch(() => undefined), 1000);
}
