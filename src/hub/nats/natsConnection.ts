// Connects to NATS servers, and says in one sentence what is wrong when that or something after it fails.
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  PermissionViolationError,
  UserAuthenticationExpiredError,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { describeError } from '../../base/errors.ts';
import { type JoinOptions } from './joinOptions.ts';
import { inboxPrefix } from './streamNames.ts';

const CONNECT_TIMEOUT = 5000;
/** A connection that was cut without a word is noticed after two of these. */
const PING_INTERVAL = 10_000;

/** Something that will not pass by itself: the user must act. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** A connection that never reconnects: what must be checked after a loss is checked for each new one. */
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
    // A stack for each request costs more than the request.
    noAsyncTraces: true,
    ...(ownInbox && { inboxPrefix: inboxPrefix(machine) }),
    ...(authenticator && { authenticator }),
    ...(tls && { tls: {} }),
  });
}

export interface Trouble {
  /** Trying again does not help before the user acts. */
  readonly refused: boolean;
  readonly text: string;
}

/** `setUp`: the command that creates what is missing and prints the permissions. */
export function describeTrouble(error: unknown, setUp: string): Trouble {
  const causes = causesOf(error);
  const text = causes.map((cause) => describeError(cause)).find((one) => one !== '') ?? 'unknown';
  if (causes.some((cause) => cause instanceof RefusedError)) return { refused: true, text };
  if (causes.some((cause) => cause instanceof AuthorizationError || cause instanceof UserAuthenticationExpiredError)) {
    return {
      refused: true,
      text: 'the server refuses the credentials of this machine. Correct earshot.hub.credentials.',
    };
  }
  const denied = causes.find((cause) => cause instanceof PermissionViolationError);
  if (denied !== undefined) {
    const what = `${denied.operation} ${denied.subject}`;
    return { refused: true, text: `this machine’s user may not ${what}. ${setUp} prints the permissions it needs.` };
  }
  return { refused: false, text: `the server cannot be used now: ${text}` };
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < 5; cause = (cause as { cause?: unknown }).cause) {
    causes.push(cause);
    if (!(cause instanceof Error)) break;
  }
  return causes;
}
