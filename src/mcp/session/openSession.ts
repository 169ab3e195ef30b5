// Connects to a server in its era: to a child process, or over HTTP with the older event stream as a fallback.
import {
  type AuthProvider,
  Client,
  type OAuthClientProvider,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { describeError } from '../../base/errors.ts';
import { type HttpLaunch, type ProgramLaunch } from '../config/launch.ts';
import { createSignInFlow, type SignInFlow } from '../oauth/oauthProvider.ts';
import { declaresEvents } from '../../protocol/outside/mcpEvents.ts';
import { boundMessages } from './boundedMessages.ts';
import { ClientSession } from './clientSession.ts';
import { HttpTransport } from './httpTransport.ts';
import { createServerFetch, describeSignIn, wantsSignIn } from './serverFetch.ts';
import { CLIENT_CAPABILITIES, type McpSession, type McpSessionDeps, McpSessionError } from './sessionPort.ts';
import { createEventStream, type EventStream } from './sseFallback.ts';
import { MOST_MESSAGE_BYTES, StdioTransport } from './stdioTransport.ts';

/** Together about as long as reopening a lost stream may take. */
const RECONNECTING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 4000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 4,
};

/** Rejects with a McpSessionError. */
export async function openSession(deps: McpSessionDeps, signal: AbortSignal): Promise<McpSession> {
  const { launch } = deps;
  try {
    return launch.type === 'stdio' ? await openProgram(deps, launch, signal) : await openHttp(deps, launch, signal);
  } catch (error) {
    throw error instanceof McpSessionError ? error : new McpSessionError(kindOf(error), describeConnectError(error));
  }
}

async function openProgram(deps: McpSessionDeps, launch: ProgramLaunch, signal: AbortSignal): Promise<McpSession> {
  const first = new StdioTransport({ launch, log: deps.log });
  try {
    return await connect(deps, first, { signal, legacy: deps.knownLegacy });
  } catch (error) {
    const ended = first.end;
    first.kill();
    // Some servers exit at the first request that they do not know: they speak an earlier revision.
    if (deps.knownLegacy || signal.aborted || ended === undefined || first.pid === null) throw explain(error, ended);
    deps.log('It exited when it was asked for its revision. It is started again with an earlier revision.');
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
  return end === undefined ? error : new McpSessionError('failed', `its process ${end}`);
}

async function openHttp(deps: McpSessionDeps, launch: HttpLaunch, signal: AbortSignal): Promise<McpSession> {
  const { url, sseOnly } = launch;
  const flow = deps.signIn && createSignInFlow(deps.signIn, launch);
  const fetch = createServerFetch({
    launch,
    most: MOST_MESSAGE_BYTES,
    within: deps.limits.connect,
    mayAsk: async (origin) => (await flow?.mayAsk(origin)) === true,
    log: (line) => deps.log(line),
  });
  const options = { fetch, ...(flow !== undefined && { authProvider: await authProviderOf(flow, deps) }) };
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

/** Before the first sign-in nothing is asked for metadata: the answer 401 alone shows that the user has to sign in. */
async function authProviderOf(
  flow: SignInFlow,
  { signIn }: McpSessionDeps,
): Promise<OAuthClientProvider | AuthProvider> {
  if (signIn?.isAsked() === true || (await flow.hasTokens())) return flow.provider;
  return { token: async () => (await flow.provider.tokens())?.access_token };
}

/** Tries again with the new token if the user has just signed in. */
async function signedIn<T extends HttpTransport | EventStream>(
  deps: McpSessionDeps,
  create: () => T,
  run: (transport: T) => Promise<McpSession>,
): Promise<McpSession> {
  // More than one round, since a server may ask for further rights later.
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

/** By the specification, a server that refuses the first request like this may know only the older transport. */
function mayBeOldServer(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405, 406, 415].includes(error.status);
}

async function connect(
  deps: McpSessionDeps,
  transport: Transport,
  { signal, legacy }: { readonly signal: AbortSignal; readonly legacy: boolean },
): Promise<McpSession> {
  const { limits, client: info } = deps;
  let hasEvents = false;
  let isConnected = false;
  boundMessages(
    transport,
    (line) => deps.log(line),
    (message) => {
      hasEvents ||= !isConnected && declaresEvents(message);
    },
  );
  const session = new ClientSession(deps, transport, (listChanged) => {
    const client = new Client(info, {
      capabilities: CLIENT_CAPABILITIES,
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: transport instanceof StdioTransport ? limits.era : limits.connect },
      },
      listChanged,
      // Accepts every result: a schema may contain a regular expression that never ends, and the model is shown the
      // result in any case.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listMaxPages: 100,
    });
    return client;
  });
  const options = { signal, timeout: limits.connect, ...(legacy && { prior: { kind: 'legacy' as const } }) };
  await session.client.connect(transport, options);
  isConnected = true;
  session.begin(hasEvents);
  return session;
}

function kindOf(error: unknown): McpSessionError['kind'] {
  if (wantsSignIn(error)) return 'sign_in';
  const isRefused = error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
  return isRefused ? 'sign_in' : 'failed';
}

function describeConnectError(error: unknown): string {
  if (wantsSignIn(error)) return describeSignIn(error);
  if (error instanceof SdkHttpError) return `it answered with HTTP ${error.status}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 'it did not answer in time';
  const cause = error instanceof Error && error.cause !== undefined ? `: ${describeError(error.cause)}` : '';
  return `${describeError(error)}${cause}`.slice(0, 500);
}
