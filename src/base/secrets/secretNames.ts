// Recognizes secret values by their names: variables, options, headers, keys of JSON or YAML.

/** Secret anywhere in a name: `PGPASSWORD`, `authToken`, `client-secret`. */
const STRONG = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'apikey',
  'accesskey',
  'privatekey',
  'signingkey',
  'encryptionkey',
  'accountkey',
  'sharedkey',
  'masterkey',
  'presharedkey',
  'subscriptionkey',
  'authkey',
  'sessionkey',
  'consumerkey',
  'functionskey',
  'credential',
  'authorization',
];
/** Words that contain a strong word but mean something else. */
const HARMLESS_WORDS = ['tokeniz', 'tokenis', 'tokenless', 'passwordless', 'secretar'];
/** Secret as a separate word: `DB_PASS`, `Pwd`, `X-Auth`. */
const WEAK = new Set(
  'pass pwd pw auth creds cred sig signature cookie pgpass dbpass storepass keypass passwort otp'.split(' '),
);
/** Secret as a parameter of an address: `?key=…`. */
const IN_ADDRESS: ReadonlySet<string> = new Set(['key', 'code', 'ticket', 'sid', 'jwt', 'psk']);
/** A name that ends in one of these describes a secret, and its value is not one: `token_type`, `PASSWORD_FILE`. */
const ABOUT = new Set(
  'type name url uri endpoint file path dir count length size limit expires expiry ttl policy stdin helper store prompt'.split(
    ' ',
  ),
);
/** `token.ts:12:5` is a place in a file. */
const FILE_NAME =
  /\.(?:[cm]?[jt]sx?|json|md|txt|py|go|rs|java|kt|c|h|cc|cpp|cs|rb|php|sh|ya?ml|toml|ini|cfg|conf|log|html?|s?css|lock|vue|svelte|sql|swift)$/i;
/** The shell's working directory. */
const WORKING_FOLDER = new Set(['PWD', 'OLDPWD']);
/** Only the end of a longer name is examined. */
const LONGEST_NAME = 120;

/** `weak`: recognized by a short, ambiguous word, so the value is examined too. */
export function secrecyOf(name: string): 'strong' | 'weak' | undefined {
  const short = name.slice(-LONGEST_NAME);
  if (WORKING_FOLDER.has(short)) return undefined;
  if (FILE_NAME.test(short)) return undefined;
  const words = wordsOf(short);
  if (ABOUT.has(words.at(-1) ?? '')) return undefined;
  const joined = words.join('');
  if (HARMLESS_WORDS.some((word) => joined.includes(word))) return undefined;
  if (STRONG.some((word) => joined.includes(word))) return 'strong';
  return words.some((word) => WEAK.has(word)) ? 'weak' : undefined;
}

/** The same for a parameter of an address. */
export function secrecyInAddress(name: string): 'strong' | 'weak' | undefined {
  return secrecyOf(name) ?? (IN_ADDRESS.has(name.toLowerCase()) ? 'weak' : undefined);
}

/** Whether a word has letters and digits, as generated secrets do and words of a sentence do not. */
export function looksGenerated(word: string): boolean {
  return (
    /^(?=[^\d]{0,60}\d)(?=[^A-Za-z]{0,60}[A-Za-z])[\w+/=.~-]{8,}$/.test(word) &&
    !/^v?\d+\.\d|^\.{0,2}\/|^~\//.test(word)
  );
}

/** Words that follow the name of a variable in a sentence. */
const PROSE = new Set(
  'is was are were be been has have had must should can could may will not no in on of for from to and or as at by with without if when before after instead environment variable env var value key secret token permission permissions missing required found set unset undefined empty invalid expired exists does did needs which that this the a an'.split(
    ' ',
  ),
);

/** Whether the word after the name of a variable may be its value: `API_KEY abc`. */
export function mayBeValue(word: string): boolean {
  return (
    /[\p{L}\p{N}]/u.test(word) &&
    !/^[A-Z_\d]+$|^[-$<({[#=]/.test(word) &&
    !PROSE.has(/^\w+/.exec(word)?.[0].toLowerCase() ?? '')
  );
}

/** `dbPass`, `DB_PASS` and `db-pass` are `db` and `pass`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** Whether a value describes a secret rather than being one. */
export function isHarmlessValue(value: string, name: string, secrecy: 'strong' | 'weak'): boolean {
  if (value.length > LONGEST_HARMLESS) return false;
  if (/^(?:true|false|null|nil|none|undefined|yes|no|\*+)[,;]?$/i.test(value) || !/[\p{L}\p{N}]/u.test(value))
    return true;
  // `tokens: 812` is a count.
  if (/tokens$/i.test(name)) return /^[\d.,]{1,15}[a-z%]?$/i.test(value);
  if (secrecy === 'strong') return false;
  return (
    /^\d{1,4}[,;%]?$/.test(value) ||
    /^(?:\.{0,2}\/|~\/|[a-z]:\\|(?:file|env|fd|stdin)(?::|$))/i.test(value) ||
    VERDICTS.has(value.toLowerCase())
  );
}

/** Longer values are not examined again. */
const LONGEST_HARMLESS = 200;

/** Words that test runners print after `pass:` and servers after `auth:`. */
const VERDICTS = new Set(['ok', 'passed', 'failed', 'fail', 'error', 'required', 'enabled', 'disabled', 'skipped']);
