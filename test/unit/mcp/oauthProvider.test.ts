import { expect, test } from 'vitest';
import { type HttpLaunch } from '../../../src/mcp/config/launch.ts';
import { createOAuthProvider } from '../../../src/mcp/oauth/oauthProvider.ts';

const launch: HttpLaunch = { type: 'http', url: new URL('https://tea.example/mcp'), headers: {}, sseOnly: false };

function begin() {
  const opened: string[] = [];
  const kept = new Map<string, string>();
  const provider = createOAuthProvider(
    {
      secrets: {
        get: async (key) => kept.get(key),
        set: async (key, value) => {
          if (value === undefined) kept.delete(key);
          else kept.set(key, value);
        },
      },
      redirectUrl: 'http://127.0.0.1:1/callback',
      open: async (url) => opened.push(url.href) > 0,
      callback: async () => undefined,
    },
    launch,
  );
  return { provider, opened };
}

test('a sign-in page, whose address comes from the server, is opened only if it is on the web', async () => {
  const { provider, opened } = begin();
  await provider.redirectToAuthorization(new URL('https://auth.example/authorize'));
  await provider.redirectToAuthorization(new URL('http://localhost:8000/authorize'));
  for (const url of ['vscode://evil.extension/run', 'file:///etc/passwd', 'ms-settings:x', 'http://auth.example/']) {
    await expect(provider.redirectToAuthorization(new URL(url))).rejects.toThrow('is not on the web');
  }
  expect(opened).toEqual(['https://auth.example/authorize', 'http://localhost:8000/authorize']);
});

test('tokens and the registration of one authorization server are not sent to another', async () => {
  const { provider } = begin();
  const own = { issuer: 'https://auth.example' };
  const other = { issuer: 'https://evil.example' };
  await provider.saveTokens({ access_token: 'a', token_type: 'Bearer' }, own);
  await provider.saveClientInformation?.({ client_id: 'c' }, own);
  expect(await provider.tokens(own as never)).toMatchObject({ access_token: 'a' });
  expect(await provider.tokens(other as never)).toBeUndefined();
  expect(await provider.clientInformation(other as never)).toBeUndefined();
});
