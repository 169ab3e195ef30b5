// Connects to a server in the era that it speaks: as a child process, or over HTTP with the older event stream as a fallback.
import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { describeError } from '../../base/errors.ts';
import { type HttpLaunch, type ProgramLaunch } from '../config/launch.ts';
import { createOAuthProvider } from '../oauth/oauthProvider.ts';
import { boundFetch, fetchThrough } from './boundedFetch.ts';
import { ClientSession } from './clientSession.ts';
import { HttpTransport } from './httpTransport.ts';
import { guardRedirects } from './redirects.ts';
import { CLIENT_CAPABILITIES, type McpSession, type SessionDeps, SessionError } from './sessionPort.ts';
import { createEventStream, type EventStream } from './sseFallback.ts';
import { MOST_MESSAGE_BYTES, StdioTransport } from './stdioTransport.ts';

/** About as long as a lost stream may take to be reopened. */
const RECONNECTING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 4000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 4,
};

/** Rejects with a SessionError. */
export async function openSession(deps: SessionDeps, signal: AbortSignal): Promise<McpSession> {
  const { launch } = deps;
  try {
    return launch.type === 'stdio' ? await openProgram(deps, launch, signal) : await openHttp(deps, launch, signal);
  } catch (error) {
    throw error instanceof SessionError ? error : new SessionError(kindOf(error), describeConnectError(error));
  }
}

async function openProgram(deps: SessionDeps, launch: ProgramLaunch, signal: AbortSignal): Promise<McpSession> {
  const first = new StdioTransport({ launch, log: deps.log });
  try {
    return await connect(deps, first, { signal, legacy: deps.knownLegacy });
  } catch (error) {
    const ended = first.end;
    first.kill();
    // Some servers end at the first request that they do not know: that is an answer, too.
    if (deps.knownLegacy || signal.aborted || ended === undefined || first.pid === null) throw explain(error, ended);
    deps.log('It ended when it was asked for its revision: it is started again as a server of an earlier one.');
    const second = new StdioTransport({ launch, log: deps.log });
    try {
      return await connect(deps, second, { signal, legacy: true });
    } catch (again) {
      const end = second.end;
      second.kill();
      throw explain(again, end);
    }
  }
}

function explain(error: unknown, end: string | undefined): unknown {
  return end === undefined ? error : new SessionError('failed', `its process ${end}`);
}

async function openHttp(deps: SessionDeps, launch: HttpLaunch, signal: AbortSignal): Promise<McpSession> {
  const { url, socket, headers, sseOnly } = launch;
  const reach = socket === undefined ? globalThis.fetch : fetchThrough(socket, url.origin);
  const fetch = boundFetch(guardRedirects(reach, Object.keys(headers)), MOST_MESSAGE_BYTES);
  const authProvider = deps.signIn && createOAuthProvider(deps.signIn, launch);
  const options = { fetch, requestInit: { headers }, ...(authProvider !== undefined && { authProvider }) };
  const stream = () => new HttpTransport(url, { ...options, reconnectionOptions: RECONNECTING });
  if (!sseOnly) {
    try {
      return await signedIn(deps, stream, (transport) =>
        connect(deps, transport, { signal, legacy: deps.knownLegacy }),
      );
    } catch (error) {
      if (!mayBeOldServer(error)) throw error;
    }
  }
  return signedIn(
    deps,
    () => createEventStream(url, options),
    (transport) => connect(deps, transport, { signal, legacy: true }),
  );
}

/** If the user has just signed in, once more with what that brought. */
async function signedIn<T extends HttpTransport | EventStream>(
  deps: SessionDeps,
  create: () => T,
  run: (transport: T) => Promise<McpSession>,
): Promise<McpSession> {
  // Further rounds: a server may want more rights than it first asked for.
  for (let round = 0; ; round++) {
    const transport = create();
    try {
      return await run(transport);
    } catch (error) {
      const callback = round < 2 && UnauthorizedError.isInstance(error) ? await deps.signIn?.callback() : undefined;
      if (callback === undefined) throw error;
      await transport.finishAuth(callback);
    }
  }
}

/** As the specification says: a server that refuses the first request with one of these may be of the older kind. */
function mayBeOldServer(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406, 415].includes(error.status);
}

async function connect(
  deps: SessionDeps,
  transport: Transport,
  { signal, legacy }: { readonly signal: AbortSignal; readonly legacy: boolean },
): Promise<McpSession> {
  const { limits, client: info } = deps;
  const session = new ClientSession(deps, transport, (listChanged) => {
    const client = new Client(info, {
      capabilities: CLIENT_CAPABILITIES,
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: transport instanceof StdioTransport ? limits.era : limits.connect },
      },
      listChanged,
      // Schemas of a server can contain expressions that take for ever; the model is shown the result either way.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listMaxPages: 100,
    });
    return client;
  });
  const options = { signal, timeout: limits.connect, ...(legacy && { prior: { kind: 'legacy' as const } }) };
  await session.client.connect(transport, options);
  session.begin();
  return session;
}

function kindOf(error: unknown): SessionError['kind'] {
  if (UnauthorizedError.isInstance(error)) return 'sign_in';
  const isRefused = error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
  return isRefused ? 'sign_in' : 'failed';
}

function describeConnectError(error: unknown): string {
  if (error instanceof SdkHttpError) return `it answered with HTTP ${error.status}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 'it did not answer in time';
  const cause = error instanceof Error && error.cause !== undefined ? `: ${describeError(error.cause)}` : '';
  return `${describeError(error)}${cause}`.slice(0, 500);
}
