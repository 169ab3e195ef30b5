// A local server with GitHub's rules: sign-in, ETags for each token, limits, pages, and logs at another address.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface FakeCheck {
  readonly id: number;
  name: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  started_at: string;
  completed_at: string | null;
  readonly app?: { readonly slug: string };
  readonly output?: { readonly title: string | null; readonly summary: string | null };
}

export interface FakePull {
  number: number;
  branch: string;
  state: 'open' | 'closed';
  draft: boolean;
  mergeable_state: string;
  merged_at: string | null;
  closed_at: string | null;
  sha: string;
}

interface Job {
  readonly steps: readonly { name: string; conclusion: string; started_at: string; completed_at: string }[];
  readonly log: string;
}

export interface Asked {
  readonly path: string;
  readonly status: number;
  readonly authorization: string | undefined;
  readonly host: string | undefined;
}

export class FakeGitHub {
  readonly checks = new Map<string, FakeCheck[]>();
  readonly statuses = new Map<string, unknown[]>();
  readonly jobs = new Map<number, Job>();
  readonly annotations = new Map<number, unknown[]>();
  pulls: FakePull[] = [];
  readonly reviews: Record<string, unknown>[] = [];
  readonly lineComments: Record<string, unknown>[] = [];
  readonly comments: Record<string, unknown>[] = [];
  readonly asked: Asked[] = [];
  /** Answers with this instead, once for each entry. */
  readonly faults: { status: number; headers?: Record<string, string>; body?: string }[] = [];
  readonly tokens = new Set(['token-a', 'token-b']);
  repository = 'acme/tea';
  readonly #servers: Server[] = [];
  #address = '';

  /** `place`: a path of a socket; absent: a port of this machine. Resolves to the address. */
  async listen(place?: string): Promise<string> {
    const server = createServer((request, response) => this.#answer(request, response));
    this.#servers.push(server);
    if (place === undefined) server.listen(0, '127.0.0.1');
    else server.listen(place);
    await once(server, 'listening');
    this.#address = place ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this.#address;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { authorization, host } = headers;
    const send = (status: number, body: string, more: Record<string, string> = {}) => {
      this.asked.push({ path: url, status, authorization, host });
      response.writeHead(status, { date: new Date().toUTCString(), ...more });
      response.end(status === 304 ? undefined : body);
    };
    const path = url.replace(/^\//, '');
    // The place of logs: its address is its own permission.
    if (path.startsWith('blob/')) {
      if (authorization !== undefined) return send(400, 'a token was sent to the place of logs');
      return send(200, this.jobs.get(Number(path.slice('blob/'.length)))?.log ?? '', { 'content-type': 'text/plain' });
    }
    const token = authorization?.replace(/^(?:token|Bearer) /, '');
    if (token === undefined || !this.tokens.has(token)) return send(401, '{"message":"Bad credentials"}');
    const fault = this.faults.shift();
    if (fault !== undefined) return send(fault.status, fault.body ?? '{"message":"fault"}', fault.headers);
    const log = /^repos\/acme\/tea\/actions\/jobs\/(\d+)\/logs$/.exec(path)?.[1];
    if (log !== undefined) {
      const isOver = [...this.checks.values()].flat().find(({ id }) => id === Number(log))?.status === 'completed';
      if (!isOver || !this.jobs.has(Number(log))) return send(404, '{"message":"Not Found"}');
      const base = host === 'api.github.com' ? 'https://logs.example' : this.#address;
      return send(302, '', { location: `${base}/blob/${log}` });
    }
    const found = this.#find(path);
    if (found === undefined) return send(404, '{"message":"Not Found"}');
    const body = JSON.stringify(found);
    const etag = `W/"${createHash('sha256').update(`${token} ${body}`).digest('hex')}"`;
    if (headers['if-none-match'] === etag) return send(304, '', { etag });
    return send(200, body, { etag, 'content-type': 'application/json', 'x-ratelimit-remaining': '4999' });
  }

  #find(path: string): unknown {
    const url = new URL(path, 'http://x/');
    const prefix = `/repos/${this.repository}/`;
    if (!url.pathname.startsWith(prefix)) return undefined;
    const rest = decodeURIComponent(url.pathname.slice(prefix.length));
    const page = Number(url.searchParams.get('page') ?? 1);
    const paged = <T>(all: readonly T[]) => all.slice((page - 1) * 100, page * 100);
    const since = url.searchParams.get('since') ?? '';
    const later = (all: readonly Record<string, unknown>[]) => all.filter((one) => String(one['created_at']) >= since);
    const sha = /^commits\/([0-9a-f]+)\//.exec(rest)?.[1] ?? '';
    const all = this.checks.get(sha) ?? [];
    if (rest.endsWith('/check-runs')) return { total_count: all.length, check_runs: paged(all) };
    if (rest.endsWith('/status')) return { statuses: this.statuses.get(sha) ?? [] };
    const job = Number(/^actions\/jobs\/(\d+)$/.exec(rest)?.[1]);
    if (this.jobs.has(job)) return { id: job, run_id: job * 10, steps: this.jobs.get(job)?.steps };
    const run = /^check-runs\/(\d+)\/annotations$/.exec(rest)?.[1];
    if (run !== undefined) return this.annotations.get(Number(run)) ?? [];
    if (rest === 'pulls') {
      const head = url.searchParams.get('head') ?? '';
      return this.pulls.filter(({ branch }) => head === `acme:${branch}`).map((one) => this.#printPull(one));
    }
    const pull = this.pulls.find(({ number }) => rest.split('/')[1] === String(number));
    if (pull === undefined) return undefined;
    if (rest === `pulls/${pull.number}`) return this.#printPull(pull);
    if (rest.endsWith('/reviews')) return paged(this.reviews);
    if (rest.startsWith('pulls/')) return later(this.lineComments);
    return later(this.comments);
  }

  #printPull({ branch, sha, ...pull }: FakePull) {
    const url = `https://github.com/acme/tea/pull/${pull.number}`;
    return { ...pull, html_url: url, updated_at: new Date().toISOString(), head: { ref: branch, sha } };
  }
}

let ids = 100;

export function check(name: string, more: Partial<FakeCheck> = {}): FakeCheck {
  return {
    id: (ids += 1),
    name,
    status: 'in_progress',
    conclusion: null,
    started_at: '2026-11-18T14:00:00Z',
    completed_at: null,
    app: { slug: 'github-actions' },
    output: { title: null, summary: null },
    ...more,
  };
}

/** Ends a check like GitHub Actions: with a job, a log with stamps and an annotation for a failure. */
export function endCheck(
  hub: FakeGitHub,
  one: FakeCheck,
  conclusion: string,
  at: Date,
  lines: readonly string[],
): void {
  const stamp = (seconds: number) => `${new Date(at.getTime() + seconds * 1000).toISOString().slice(0, 19)}Z`;
  Object.assign(one, { status: 'completed', conclusion, started_at: stamp(-180), completed_at: stamp(0) });
  const step = (name: string, from: number, to: number, how: string) => ({
    ...{ name, conclusion: how, started_at: stamp(from), completed_at: stamp(to) },
  });
  const printed = (seconds: number, line: string) => `${stamp(seconds).replace('Z', '.1234567Z')} ${line}`;
  hub.jobs.set(one.id, {
    steps: [
      step('Set up job', -180, -170, 'success'),
      step('npm test', -160, -1, conclusion),
      step('Post', -1, 0, 'success'),
    ],
    log: [
      printed(-175, 'a line of the set up'),
      printed(-160, '##[group]Run npm test'),
      printed(-160, '\u001b[36;1mnpm test\u001b[0m'),
      printed(-160, '##[endgroup]'),
      ...lines.map((line) => printed(-10, line)),
      printed(-2, '##[error]Process completed with exit code 1.'),
      printed(5, 'Cleaning up orphan processes'),
    ].join('\n'),
  });
}
