// Masks the conversation's key, which authenticates notification blocks, in all other text for the model.

/** Applied to tool output, notifications and exports. */
export function maskKey(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '•••');
}
