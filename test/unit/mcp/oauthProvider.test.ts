import { expect, test } from 'vitest';
import { type HttpLaunch } from '../../../src/mcp/config/launch.ts';
import { createSignInFlow } from '../../../src/mcp/oauth/oauthProvider.ts';
import { memorySecrets } from '../../support/mcp/memorySecrets.ts';

const launch: HttpLaunch = { type: 'http', url: new URL('https://tea.example/mcp'), headers: {}, sseOnly: false };

function begin() {
  const opened: string[] = [];
  const kept = new Map<string, string>();
  const user = { asks: true };
  const { provider, mayAsk, hasTokens } = createSignInFlow(
    {
      secrets: memorySecrets(kept),
      redirectUrl: 'http://127.0.0.1:1/callback',
      isAsked: () => user.asks,
      open: async (url) => opened.push(url.href) > 0,
      callback: async () => undefined,
    },
    launch,
  );
  return { provider, mayAsk, hasTokens, opened, user, kept };
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

test('hosts that were asked when the user signed in may be asked later without a click, others not', async () => {
  const { provider, mayAsk, hasTokens, user, kept } = begin();
  expect(await hasTokens()).toBe(false);
  expect([await mayAsk('https://auth.example'), await mayAsk('https://tokens.example')]).toEqual([true, true]);
  await provider.saveTokens({ access_token: 'a', token_type: 'Bearer' }, { issuer: 'https://auth.example' });
  user.asks = false;
  const allowed = async () =>
    Promise.all(['https://auth.example', 'https://tokens.example', 'https://evil.example'].map(mayAsk));
  expect(await allowed()).toEqual([true, true, false]);
  // A refreshed token keeps them.
  await provider.saveTokens({ access_token: 'b', token_type: 'Bearer' }, { issuer: 'https://auth.example' });
  expect(await allowed()).toEqual([true, true, false]);
  // Tokens of an earlier version name only the issuer.
  kept.set('tokens', JSON.stringify({ access_token: 'c', token_type: 'Bearer', issuer: 'https://auth.example' }));
  expect(await allowed()).toEqual([true, false, false]);
});

test('without a click no client is registered', async () => {
  const { provider, user } = begin();
  expect(await provider.clientInformation()).toBeUndefined();
  user.asks = false;
  await expect(provider.clientInformation()).rejects.toThrow('The user has to sign in');
});
