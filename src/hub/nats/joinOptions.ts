// Validates the options that join a hub with others, from the command line or the settings. Does not load NATS.
import { defined } from '../../base/json/defined.ts';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { describeError } from '../../base/errors.ts';
import { platform } from '../../node/platform/platform.ts';
import { HUB_NAME } from '../../protocol/hub.ts';

export interface JoinOptions {
  /** The addresses of one server, or of the servers of a cluster. */
  readonly servers: readonly string[];
  readonly name: string;
  readonly machine: string;
  readonly credentials?: Credentials | undefined;
  readonly tls: boolean;
  readonly login?: { readonly user: string; readonly password: string } | undefined;
}

interface Credentials {
  readonly kind: 'creds' | 'nkey';
  readonly bytes: Uint8Array;
}

export interface JoinInput {
  readonly server: string;
  readonly name?: string | undefined;
  readonly machine?: string | undefined;
  /** The path of a creds or NKEY file. */
  readonly credentials?: string | undefined;
}

/** The name of an option where the user sets it: `--name` or `earshot.hub.name`. */
export type Label = (option: keyof JoinInput) => string;

export const commandLineLabel: Label = (option) => `--${option}`;
export const settingLabel: Label = (option) => `earshot.hub.${option}`;

/** What is wrong with an option, and what to do about it. */
export class JoinOptionError extends Error {
  override readonly name = 'JoinOptionError';
}

const ALPHABET = '1 to 32 of a-z, 0-9, _ and -';
const MOST_SERVERS = 16;
const MOST_CREDENTIALS = 64 * 1024;

/** Throws `JoinOptionError` if the user must correct an option. Reads the credentials file. */
export function readJoinOptions(input: JoinInput, label: Label): JoinOptions {
  const { servers, tls, login } = readServers(input.server, label('server'));
  const credentials = readCredentials(input.credentials, label('credentials'));
  if (login !== undefined && credentials !== undefined) {
    throw new JoinOptionError(
      `${label('server')} has a user and ${label('credentials')} a file. Use one of them; the file is safer.`,
    );
  }
  return {
    servers,
    name: readName(input.name, label('name')),
    machine: readMachine(input.machine, label('machine')),
    tls,
    ...defined({ login, credentials }),
  };
}

function readServers(text: string, option: string): Pick<JoinOptions, 'servers' | 'tls' | 'login'> {
  const example = 'Use an address such as nats://nats.example.com:4222, or tls:// for an encrypted connection.';
  const addresses = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  if (addresses.length === 0) throw new JoinOptionError(`${option} is empty. ${example}`);
  if (addresses.length > MOST_SERVERS)
    throw new JoinOptionError(`${option} has ${addresses.length} addresses; at most ${MOST_SERVERS} are allowed.`);
  const parsed = addresses.map((address) => {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    // The message does not repeat the address, which may contain a password.
    if (url === undefined || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '')
      throw new JoinOptionError(`${option} is not the address of a NATS server. ${example}`);
    return url;
  });
  const [first] = parsed;
  const user = decodeURIComponent(first?.username ?? '');
  return {
    servers: parsed.map((url) => `${url.hostname}:${url.port === '' ? '4222' : url.port}`),
    tls: parsed.some((url) => url.protocol === 'tls:'),
    ...(user !== '' && { login: { user, password: decodeURIComponent(first?.password ?? '') } }),
  };
}

function readName(name: string | undefined, option: string): string {
  if (name === undefined || name === '') {
    throw new JoinOptionError(
      `${option} is missing: the server is not used. Set the same name on every machine that is to be joined.`,
    );
  }
  if (!HUB_NAME.test(name))
    throw new JoinOptionError(`${option}: “${name.slice(0, 40)}” is not a name. Use ${ALPHABET}.`);
  return name;
}

function readMachine(machine: string | undefined, option: string): string {
  if (machine === undefined || machine === '') {
    const own = reduceHostName(hostname());
    if (own !== '') return own;
    throw new JoinOptionError(`${option} is missing, and this machine’s host name has no letters or digits. Set it.`);
  }
  if (HUB_NAME.test(machine)) return machine;
  throw new JoinOptionError(`${option}: “${machine.slice(0, 40)}” is not a name of a machine. Use ${ALPHABET}.`);
}

/** The first part of a host name, with the characters that names allow. */
export function reduceHostName(host: string): string {
  const [first = ''] = host.toLowerCase().split('.');
  return first
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .slice(0, 32)
    .replace(/^-{1,32}/, '');
}

function readCredentials(path: string | undefined, option: string): Credentials | undefined {
  if (path === undefined || path === '') return undefined;
  let bytes: Uint8Array;
  try {
    const { mode, size } = statSync(path);
    if (platform.disk.hasModes && (mode & 0o077) !== 0) {
      throw new JoinOptionError(`${option}: other users can read ${path}. Run chmod 600 on it.`);
    }
    if (size > MOST_CREDENTIALS)
      throw new JoinOptionError(`${option}: ${path} is too large for a file of credentials.`);
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof JoinOptionError) throw error;
    throw new JoinOptionError(`${option}: ${path} cannot be read (${describeError(error)}). Correct the path.`);
  }
  const text = Buffer.from(bytes).toString('latin1');
  if (text.includes('-----BEGIN NATS USER JWT-----')) return { kind: 'creds', bytes };
  const seed = /^SU[A-Z2-7]{56}$/m.exec(text.replaceAll('\r', ''));
  if (seed !== null) return { kind: 'nkey', bytes: Buffer.from(seed[0]) };
  throw new JoinOptionError(`${option}: ${path} holds neither a creds file nor the NKEY seed of a user (SU…).`);
}
