// Short options of programs that are followed by a secret: `curl -u`, `docker login -p`, `mysql -psecret`.

export interface SecretOptions {
  /** The value is the next word: `-p secret`. */
  readonly apart: ReadonlySet<string>;
  /** The value is the rest of the word: `-psecret`. */
  readonly joined: readonly string[];
  /** Only after this subcommand: `docker login`. */
  readonly after?: string;
  /** The value is `user:secret`. */
  readonly pair?: true;
  /** The program runs another program, which has its own options. */
  readonly once?: true;
}

const options = (apart: string, joined = '', after?: string): SecretOptions => ({
  apart: new Set(apart.split(' ')),
  joined: joined === '' ? [] : joined.split(' '),
  ...(after !== undefined && { after }),
});

const CURL: SecretOptions = { ...options('-u --user -U --proxy-user --oauth2-bearer', '-u -U'), pair: true };
const HTTPIE: SecretOptions = { ...options('-a --auth'), pair: true };
const LOGIN = options('-p --creds --src-creds --dest-creds', '', 'login');
const MYSQL = options('', '-p');
const MONGO = options('-p');

const BY_PROGRAM: ReadonlyMap<string, SecretOptions> = new Map([
  ['curl', CURL],
  ['http', HTTPIE],
  ['https', HTTPIE],
  ['docker', LOGIN],
  ['podman', LOGIN],
  ['nerdctl', LOGIN],
  ['helm', LOGIN],
  ['oras', LOGIN],
  ['skopeo', LOGIN],
  ['az', LOGIN],
  ['mysql', MYSQL],
  ['mysqldump', MYSQL],
  ['mysqladmin', MYSQL],
  ['mysqlimport', MYSQL],
  ['mariadb', MYSQL],
  ['mariadb-dump', MYSQL],
  ['mongo', MONGO],
  ['mongosh', MONGO],
  ['mongodump', MONGO],
  ['mongorestore', MONGO],
  ['sshpass', { ...options('-p', '-p'), once: true }],
  ['redis-cli', options('-a --pass')],
  ['ldapsearch', options('-w', '-w')],
  ['plink', options('-pw')],
  ['pscp', options('-pw')],
]);

/** By program name, with or without its folder. */
export function secretOptionsOf(word: string): SecretOptions | undefined {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  return BY_PROGRAM.get(name.endsWith('.exe') ? name.slice(0, -4) : name);
}
