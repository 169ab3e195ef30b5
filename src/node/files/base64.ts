// Base64, for core, which has no Buffer.
export const base64 = {
  encode: (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64'),
  decode: (text: string): Uint8Array => Buffer.from(text, 'base64'),
};
