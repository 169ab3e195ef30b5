// Connects to NATS servers, and describes failures of the connection for the user.
import {
  AuthorizationError,
  connect,
  ConnectionError,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  NoRespondersError,
  PermissionViolationError,
  TimeoutError,
  UserAuthenticationExpiredError,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { describeError } from '../../base/errors.ts';
import { type JoinOptions } from './joinOptions.ts';
import { inboxPrefix } from './streamNames.ts';

const CONNECT_TIMEOUT = 5000;
/** A connection that broke silently is noticed after two of these. */
const PING_INTERVAL = 10_000;

/** A problem that retries do not solve: the user must act. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The connection never reconnects on its own, since the stream has to be checked for each new connection. */
export function connectNats(options: JoinOptions, ownInbox = true): Promise<NatsConnection> {
  const { login, credentials, servers, machine, tls } = options;
  const authenticator =
    credentials?.kind === 'creds'
      ? credsAuthenticator(credentials.bytes)
      : credentials?.kind === 'nkey'
        ? nkeyAuthenticator(credentials.bytes)
        : login && usernamePasswordAuthenticator(login.user, login.password);
  return connect({
    servers: [...servers],
    name: `earshot ${machine}`,
    reconnect: false,
    timeout: CONNECT_TIMEOUT,
    pingInterval: PING_INTERVAL,
    maxPingOut: 2,
    // Capturing a stack trace costs more than the request itself.
    noAsyncTraces: true,
    ...(ownInbox && { inboxPrefix: inboxPrefix(machine) }),
    ...(authenticator && { authenticator }),
    ...(tls && { tls: {} }),
  });
}

export interface Trouble {
  /** Whether retries are useless before the user acts. */
  readonly refused: boolean;
  readonly text: string;
}

const CERTIFICATE_TIMES = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
const UNKNOWN_AUTHORITY = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Describes the problem and the next step. `setUp`: the command that creates the stream and prints permissions. */
export function describeTrouble(error: unknown, setUp: string): Trouble {
  const causes = causesOf(error);
  const text = causes.map((cause) => describeError(cause)).find((one) => one !== '') ?? 'unknown';
  const is = (kind: abstract new (...args: never[]) => Error) => causes.some((cause) => cause instanceof kind);
  const hasCode = (codes: readonly string[]) =>
    causes.some((cause) => codes.includes(String((cause as { code?: unknown }).code)));
  const refused = (why: string): Trouble => ({ refused: true, text: why });
  if (is(RefusedError)) return refused(text);
  if (is(UserAuthenticationExpiredError) || isExpired(text)) {
    return refused(
      'the credentials of this machine are not valid at this time. Get new ones for earshot.hub.credentials, or correct the clock of this machine.',
    );
  }
  if (is(AuthorizationError)) {
    return refused(
      'the server refuses the credentials of this machine. Correct earshot.hub.credentials, or ask the administrator of the server.',
    );
  }
  const denied = causes.find((cause) => cause instanceof PermissionViolationError);
  if (denied !== undefined) {
    const what = `${denied.operation} ${denied.subject}`;
    return refused(`this machine’s user may not ${what}. ${setUp} prints the permissions it needs.`);
  }
  if (hasCode(CERTIFICATE_TIMES)) {
    return refused(
      `the server’s certificate is not valid at this time (${text}). Correct the clock of this machine, or have the certificate renewed.`,
    );
  }
  if (hasCode(UNKNOWN_AUTHORITY)) {
    return refused(
      'this machine does not trust the server’s certificate. Install the certificate of its authority, or name its file in the environment variable NODE_EXTRA_CA_CERTS and start again.',
    );
  }
  if (hasCode(['ERR_TLS_CERT_ALTNAME_INVALID']))
    return refused(
      'the server’s certificate is for another host. Use the host name it was made for in earshot.hub.server.',
    );
  if (is(ConnectionError) && text.includes("does not support 'tls'"))
    return refused('the server does not encrypt connections. Use nats:// instead of tls:// in earshot.hub.server.');
  // The client does not export the class JetStreamNotEnabled.
  if (causes.some((cause) => cause instanceof Error && cause.name === 'JetStreamNotEnabled') || is(NoRespondersError))
    return refused('JetStream is not enabled on the server. Ask its administrator to enable it.');
  const again = 'Earshot retries automatically.';
  if (hasCode(UNREACHABLE) || is(TimeoutError)) {
    return {
      refused: false,
      text: `the server cannot be reached (${text}). ${again} Check the network and the address in earshot.hub.server.`,
    };
  }
  return { refused: false, text: `the server cannot be used now (${text}). ${again}` };
}

/** Recognizes the server's messages about a JWT, for which the client has no error class. */
function isExpired(text: string): boolean {
  return /(?:authentication|jwt|claim)[a-z ]{0,40}(?:expired|not yet valid)/i.test(text);
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < 5; cause = (cause as { cause?: unknown }).cause) {
    causes.push(cause);
    if (!(cause instanceof Error)) break;
  }
  return causes;
}
