// Sends HTTP requests with exactly the given headers; `fetch` does not allow some of them.
import { request } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The body of an event stream is left out, because it does not end. */
export function sendRaw(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  { method = 'GET', body = '' } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      if (status === 200 && path.includes('/stream')) {
        response.destroy();
        resolve({ status, body: '', headers: response.headers });
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status, body: text, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
