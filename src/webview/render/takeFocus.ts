// Decides whether what asks for an answer may take the keyboard: never from somebody who is typing.

/** How long after the last key someone still counts as typing. */
const TYPING = 1500;
let lastKey = 0;
if (typeof window !== 'undefined') window.addEventListener('keydown', () => (lastKey = performance.now()), true);

export function mayTakeFocus(): boolean {
  if (!document.hasFocus()) return false;
  const active = document.activeElement;
  if (active === null || active === document.body) return true;
  const writing = active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement;
  return writing && active.value === '' && performance.now() - lastKey > TYPING;
}
