// Certificates and JWTs for a NATS server in tests: made by openssl and by the keys of NATS.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { type Permissions } from '../../../src/hub/nats/setUp.ts';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Makes a self-signed certificate. */
export function makeCertificate(folder: string, name: string, host = 'localhost'): Certificate {
  const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const args = ['req', '-x509', ...curve, '-keyout', key, '-out', certificate, '-days', '2', ...subject];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { certificate, key };
}

type Pair = ReturnType<typeof nkeys.createUser>;

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signJwt(issuer: Pair, subject: Pair, nats: object, expires?: number): string {
  const header = encode({ typ: 'JWT', alg: 'ed25519-nkey' });
  const body = encode({
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: subject.getPublicKey(),
    ...(expires !== undefined && { exp: expires }),
    nats: { ...nats, version: 2 },
  });
  const signature = issuer.sign(new TextEncoder().encode(`${header}.${body}`));
  return `${header}.${body}.${Buffer.from(signature).toString('base64url')}`;
}

/** An operator with one account, for the configuration of a server, and creds files of its users. */
export class JwtAccount {
  readonly #operator = nkeys.createOperator();
  readonly #account = nkeys.createAccount();
  /** The system account; JetStream requires a separate one. */
  readonly #system = nkeys.createAccount();

  get configuration(): string {
    const unlimited = { conn: -1, subs: -1, data: -1, payload: -1, mem_storage: -1, disk_storage: -1, streams: -1 };
    const limits = { ...unlimited, consumer: -1, imports: -1, exports: -1, leaf: -1 };
    const account = signJwt(this.#operator, this.#account, { type: 'account', limits });
    const operator = signJwt(this.#operator, this.#operator, { type: 'operator' });
    const system = signJwt(this.#operator, this.#system, { type: 'account' });
    return `operator: ${operator}
system_account: ${this.#system.getPublicKey()}
resolver: MEMORY
resolver_preload: { ${this.#account.getPublicKey()}: ${account}, ${this.#system.getPublicKey()}: ${system} }`;
  }

  /** The text of a creds file. `expires`: seconds since 1970. */
  creds(permissions?: Permissions, expires?: number): string {
    const user = nkeys.createUser();
    const limits = { subs: -1, data: -1, payload: -1 };
    const allowed = permissions && {
      pub: { allow: permissions.publish },
      sub: { allow: permissions.subscribe },
    };
    const jwt = signJwt(this.#account, user, { type: 'user', ...limits, ...allowed }, expires);
    const seed = Buffer.from(user.getSeed()).toString('latin1');
    return `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;
  }
}
