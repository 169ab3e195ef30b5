// Decides what in a command line or its output looks like a secret, and hides it: better too much than too little.

const MASK = '***';

/** Names after which a value is secret, wherever in the name it stands. Bounded: one long word must not take seconds. */
const SECRET_NAME =
  '[\\w.-]{0,60}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth)[\\w.-]{0,60}';
const VALUE = '(?:"[^"\\n]*"|\'[^\'\\n]*\'|[^\\s"\'&;|]+)';

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(authorization\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"']+/gi, `$1${MASK}`],
  // NAME=value, "name": "value", --name=value
  [new RegExp(`(${SECRET_NAME}["']?\\s*[=:]\\s*)${VALUE}`, 'gi'), `$1${MASK}`],
  // --name value
  [new RegExp(`(--?${SECRET_NAME}\\s+)(?!-)${VALUE}`, 'gi'), `$1${MASK}`],
  [/\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi, `$1${MASK}`],
  // https://user:password@host
  [/([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s@/]+@/gi, `$1${MASK}@`],
  // curl -u user:password, mysql -ppassword
  [/(\s-u\s*["']?[^\s:"']+:)[^\s"']+/g, `$1${MASK}`],
  [/(\bmysql\w*\b[^\n]*?\s-p)[^\s]+/g, `$1${MASK}`],
  // By their own shape.
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|rk_live_|xox[abprs]-|npm_|hf_|AKIA|ASIA|AIza)[\w-]{8,}/g, MASK],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, MASK],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
];

export function maskSecrets(text: string): string {
  return PATTERNS.reduce((masked, [pattern, by]) => masked.replace(pattern, by), text);
}
