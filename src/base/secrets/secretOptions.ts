// Secrets by the program that gets them: after an option (`curl -u`, `mysql -psecret`), after a name (`setx TOKEN …`) or
// as the last argument (`htpasswd -b file user secret`).

export interface SecretOptions {
  /** The value is the next word: `-p secret`. */
  readonly apart: ReadonlySet<string>;
  /** The value is the rest of the word: `-psecret`. */
  readonly joined: readonly string[];
  /** Only after this subcommand: `docker login`. */
  readonly after?: RegExp;
  /** The value is `user:secret`, `name=secret` or `user,secret`. */
  readonly pair?: ':' | '=' | ',';
  /** The program runs another program, which has its own options. */
  readonly once?: true;
  /** Arguments that name a secret are followed by it: `setx TOKEN secret`. */
  readonly names?: true;
  /** Each `name=value` is a secret. */
  readonly assigns?: true;
}

/** A program whose last argument is a secret. */
export interface SecretArgument {
  /** The first or second argument must be this. */
  readonly after?: RegExp;
  /** An option must be this. */
  readonly flag?: RegExp;
  /** The number of arguments, without options, after `after`. */
  readonly least: number;
}

const options = (apart: string, joined = '', after?: RegExp): SecretOptions => ({
  apart: new Set(apart.split(' ')),
  joined: joined === '' ? [] : joined.split(' '),
  ...(after !== undefined && { after }),
});

const CURL = { ...options('-u --user -U --proxy-user --oauth2-bearer -b --cookie', '-u -U'), pair: ':' } as const;
const HTTPIE = { ...options('-a --auth'), pair: ':' } as const;
const LOGIN = options('-p --creds --src-creds --dest-creds', '', /^login$/);
const P = options('-p');
const PASSWORD = options('-P', '-P');
const JOINED = options('', '-p');
const LDAP = options('-w', '-w');
const STORE = options('-storepass -keypass -srcstorepass -deststorepass -destkeypass --ks-pass --key-pass');
const SET = { ...options('', '', /^set$/), names: true } as const;
const SECRETS_SET = { ...options('', '', /^set$/), names: true, assigns: true } as const;

const BY_PROGRAM: ReadonlyMap<string, SecretOptions> = new Map<string, SecretOptions>(
  (
    [
      ['curl', CURL],
      ['http https', HTTPIE],
      ['docker podman nerdctl helm oras skopeo cf', LOGIN],
      ['az', options('-p --value', '', /^(?:login|secret)$/)],
      ['mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za 7zz rar unrar', JOINED],
      ['mongo mongosh mongodump mongorestore twine cqlsh rdesktop', P],
      ['sshpass', { ...options('-p', '-p'), once: true }],
      ['redis-cli', options('-a --pass')],
      ['ldapsearch ldapadd ldapmodify ldapdelete ldappasswd', LDAP],
      ['plink pscp psftp', options('-pw')],
      ['zip unzip sqlcmd bcp ipmitool', PASSWORD],
      ['openssl', options('-k -K -hmac -mackey')],
      ['keytool jarsigner apksigner', STORE],
      ['smbclient rpcclient winexe', options('-U --user', '-U')],
      ['lftp', { ...options('-u'), pair: ',' }],
      ['snmpget snmpwalk', options('-A -X')],
      ['security', options('-w -p', '', /-password$|^unlock-keychain$/)],
      ['useradd usermod', options('-p --password')],
      ['doctl glab', options('-t', '', /^(?:init|login)$/)],
      ['nuget choco', options('-k -ApiKey')],
      ['dotnet', { ...options('-k', '', /^(?:push|user-secrets)$/), names: true }],
      ['kubectl oc', { ...options('--from-literal'), pair: '=' }],
      ['gh', options('-b --body', '', /^secret$/)],
      ['aws npm pnpm yarn pip pip3 conda gcloud netlify', SET],
      ['git poetry bundle', { ...options('', '', /^config$/), names: true }],
      ['fly flyctl heroku supabase firebase railway', SECRETS_SET],
      ['setx setenv', { ...options(''), names: true }],
      ['set', { ...options('', '', /^-[a-wyzA-Z]*x|^--export$/), names: true }],
    ] as const
  ).flatMap(([names, given]) => names.split(' ').map((name): [string, SecretOptions] => [name, given])),
);

const LAST_ARGUMENT: ReadonlyMap<string, SecretArgument> = new Map<string, SecretArgument>([
  ['htpasswd', { flag: /^-\w*b/, least: 2 }],
  ['net', { after: /^user$/i, least: 2 }],
  ['rabbitmqctl', { after: /^(?:add_user|change_password|authenticate_user)$/, least: 2 }],
  ['vault', { after: /^login$/, least: 1 }],
  ['cargo', { after: /^login$/, least: 1 }],
  ['ngrok', { after: /authtoken$/, least: 1 }],
  ['snyk', { after: /^auth$/, least: 1 }],
  ['pulumi', { after: /^set$/, flag: /^--secret$/, least: 2 }],
  ['mc', { after: /^set$/, least: 4 }],
  ['wpa_passphrase', { least: 2 }],
  ['rclone', { after: /^obscure$/, least: 1 }],
  ['nuget', { after: /^setapikey$/i, least: 1 }],
  ['composer', { after: /^http-basic\./, least: 2 }],
  ['redis-cli', { after: /^auth$/i, least: 1 }],
  ['convertto-securestring', { flag: /^-asplaintext$/i, least: 1 }],
]);

/** By program name, with or without its folder. */
export function secretOptionsOf(word: string): SecretOptions | undefined {
  return BY_PROGRAM.get(programName(word));
}

export function secretArgumentOf(word: string): SecretArgument | undefined {
  return LAST_ARGUMENT.get(programName(word).toLowerCase());
}

function programName(word: string): string {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  return name.endsWith('.exe') ? name.slice(0, -4) : name;
}
