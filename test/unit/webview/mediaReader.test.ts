// Requests for images and sound, from the page's side.
import { expect, test } from 'vitest';
import { MediaReader } from '../../../src/webview/cards/mediaReader.ts';

function createReader() {
  const asked: string[] = [];
  const reader = new MediaReader((message) => {
    if (message.type === 'read_media') asked.push(message.hash);
  });
  return { reader, asked };
}

const hashes = Array.from({ length: 25 }, (_, index) => `h${index}`);

test('25 outstanding requests are all answered', async () => {
  const { reader, asked } = createReader();
  const reading = hashes.map((hash) => reader.read(hash));
  expect(asked).toEqual(hashes);
  for (const hash of hashes) reader.resolve(hash, `data of ${hash}`);
  const never = new Promise<string>((resolve) => setImmediate(() => resolve('no answer')));
  const got = await Promise.all(reading.map((one) => Promise.race([one, never])));
  expect(got).toEqual(hashes.map((hash) => `data of ${hash}`));
});

test('the last 20 answers are kept, and an evicted one is requested again', async () => {
  const { reader, asked } = createReader();
  for (const hash of hashes) {
    const reading = reader.read(hash);
    reader.resolve(hash, hash);
    await reading;
  }
  await reader.read('h5');
  expect(asked).toHaveLength(25);
  const again = reader.read('h0');
  expect(asked).toHaveLength(26);
  reader.resolve('h0', 'again');
  expect(await again).toBe('again');
});
