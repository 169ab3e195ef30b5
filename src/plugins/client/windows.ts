// Finds the windows of VS Code that have a folder open and answer.
import { isAnswered } from '../../node/privateSocket.ts';
import { type FoundWindow, windowsOf } from './windowSockets.ts';

/** The most recently opened window first. */
export async function findWindows(folder: string, home?: string): Promise<readonly FoundWindow[]> {
  const found = (await windowsOf(folder, home)).filter(({ isEars }) => isEars !== true);
  const answered = await Promise.all(found.map(({ path }) => isAnswered(path)));
  return found.filter((_, index) => answered[index]);
}
