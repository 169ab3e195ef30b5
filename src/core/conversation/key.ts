// Decides that the key, which proves a block to be ours, never reaches the model by another way.

/** Tool output, notifications and exports pass through here. */
export function maskKey(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '•••');
}
