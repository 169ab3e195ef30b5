// A page of the web chat without a browser: the stream of its messages, and the messages that it sends.
import { expect } from 'vitest';
import { type FromPage, type ToPage } from '../../../src/protocol/webview.ts';
import { atTestEnd } from '../endings.ts';
import { TOKEN, type WebChatWorld } from './webChatWorld.ts';

export interface PageStream {
  readonly received: readonly ToPage[];
  /** Resolves with the first matching message, whether already received or not. */
  next(fits: (message: ToPage) => boolean): Promise<ToPage>;
  close(): void;
  /** Resolves once the server or `close` has ended it. */
  readonly ended: Promise<void>;
}

export async function openStream(
  world: WebChatWorld,
  query: Readonly<Record<string, string>>,
  token = TOKEN,
): Promise<PageStream> {
  const aborter = new AbortController();
  atTestEnd(async () => aborter.abort());
  const response = await fetch(`${world.origin}/stream?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: aborter.signal,
  });
  expect(response.status).toBe(200);
  const received: ToPage[] = [];
  const read = async () => {
    let rest = '';
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') received.push(JSON.parse(line) as ToPage);
    }
  };
  const ended = read().catch(() => undefined);
  return {
    received,
    ended,
    close: () => aborter.abort(),
    next: async (fits) => {
      await expect.poll(() => received.some(fits), { interval: 5 }).toBe(true);
      return received.find(fits) as ToPage;
    },
  };
}

export async function post(world: WebChatWorld, page: string, message: FromPage): Promise<void> {
  const response = await fetch(`${world.origin}/messages?page=${page}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  expect(response.status).toBe(204);
}
