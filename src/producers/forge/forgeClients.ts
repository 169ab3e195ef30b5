// Makes the client of each forge by the way that the user allows, and keeps it with its answers while that stays.
import { type Clock } from '../../core/ports/ports.ts';
import { type Settings } from '../../protocol/settings.ts';
import { ForgeApi, type ForgeAnswer, type ForgeTransport, ForgeTrouble } from './forgeApi.ts';
import { type ForgeClient } from './forgeClient.ts';
import { createGitHubClient } from './github.ts';
import { createGitLabClient } from './gitlab.ts';
import { programTransport } from './programTransport.ts';
import { type Remote } from './remotes.ts';
import { USER_AGENT } from '../../node/boundedBody.ts';
import { BoundedTail } from './boundedTail.ts';

export interface ForgeClientsDeps {
  readonly clock: Clock;
  /** The environment of `gh` and `glab`. */
  readonly env: NodeJS.ProcessEnv;
  /** The user’s account on GitHub; absent: there is none here. */
  readonly account?: AccountDeps | undefined;
}

export class ForgeClients {
  readonly #deps: ForgeClientsDeps;
  readonly #clients = new Map<string, ForgeClient>();

  constructor(deps: ForgeClientsDeps) {
    this.#deps = deps;
  }

  get({ forge, host }: Pick<Remote, 'forge' | 'host'>, way: Settings['forge']): ForgeClient {
    // GitLab has no account in VS Code.
    const byAccount = way === 'account' && forge === 'github';
    const key = `${byAccount} ${host}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const { clock, env, account = { token: async () => undefined } } = this.#deps;
    const transport = byAccount ? accountTransport(account) : programTransport(forge, env);
    const api = new ForgeApi(transport, host, clock);
    const client = forge === 'github' ? createGitHubClient(api) : createGitLabClient(api);
    this.#clients.set(key, client);
    return client;
  }

  /** After a sign-in, answers of another account must not be used. */
  forget(): void {
    this.#clients.clear();
  }
}

const GITHUB = 'github.com';
const API = 'https://api.github.com';
const MILLISECONDS = 60_000;

interface AccountDeps {
  /** The token for github.com; undefined: nobody is signed in. Never asks. */
  token(): Promise<string | undefined>;
  /** Replaces GitHub’s API in tests. */
  readonly api?: string | undefined;
}

/** Asks GitHub with the token of the account that VS Code has. The token goes to GitHub’s API and nowhere else. */
function accountTransport({ token, api = API }: AccountDeps): ForgeTransport {
  return async ({ host, path, etag }, signal) => {
    if (host !== GITHUB) {
      throw new ForgeTrouble('setUp', `The account of VS Code is for ${GITHUB} only; for ${host} use gh or glab.`);
    }
    const held = await token();
    if (held === undefined) throw new ForgeTrouble('setUp', 'VS Code is not signed in to GitHub.');
    const limited = AbortSignal.any([signal, AbortSignal.timeout(MILLISECONDS)]);
    const headers = {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': USER_AGENT,
    };
    const condition = etag === undefined ? {} : { 'if-none-match': etag };
    const response = await fetch(`${api}/${path}`, {
      headers: { ...headers, ...condition, authorization: `Bearer ${held}` },
      redirect: 'manual',
      signal: limited,
    });
    if (response.status < 300 || response.status === 304 || response.status >= 400) return read(response);
    // A log is elsewhere, at an address that is its own permission: the token must not go there.
    const place = new URL(response.headers.get('location') ?? '', `${api}/`);
    if (place.protocol !== new URL(api).protocol)
      throw new ForgeTrouble('later', 'a redirect leads to no safe address');
    return read(await fetch(place, { headers, redirect: 'error', signal: limited }));
  };
}

async function read(response: Response): Promise<ForgeAnswer> {
  const body = new BoundedTail();
  for await (const chunk of response.body ?? []) body.add(Buffer.from(chunk));
  return { status: response.status, headers: Object.fromEntries(response.headers), body: body.text() };
}
