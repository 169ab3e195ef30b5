// Finds everything that may be a path in one word of a command line. Any word, and any part of it, may be a file name.

/** Standard streams, which are not files of anybody. */
const STREAMS = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']);
/** Addresses of other machines. Everything else with a scheme may be a file. */
const NETWORK =
  /\b(?:https?|wss?|ftps?|ssh|git|git\+https?|git\+ssh|rsync|redis|rediss|postgres|postgresql|mysql|mongodb|amqp|nats|smtp|s3|gs):\/\/(?!\/)[^\s'"`<>|;,]*/gi;
/**
 * A program may read the text between these as a separate value: `name=/path`, `-F f=@/path`, `a:b`, code in quotes.
 */
const DIVIDERS = /[\s=:,;@!|&<>(){}[\]"'`]+/;
const DRIVE = /(?<![A-Za-z0-9])([A-Za-z]):(?=[\\/])/g;
const DRIVE_MARK = '\uE000';

/** Expanded because the program that gets the text may read it as a command line. */
const HOME = /^\$HOME(?!\w)/;

/** No program can open longer paths. */
const LONGEST_PATH = 4096;

export function pathsInText(text: string): string[] {
  const found = new Set<string>();
  const local = text.replace(NETWORK, ' ');
  if (!text.startsWith('-') && local === text) found.add(text);
  for (const divided of local.replace(DRIVE, `$1${DRIVE_MARK}`).split(DIVIDERS)) {
    const piece = divided.replaceAll(DRIVE_MARK, ':');
    if (piece.startsWith('-')) {
      const value = valueOfOption(piece);
      if (value !== undefined) found.add(value);
    } else found.add(piece.replace(HOME, '~'));
  }
  return [...found].filter((path) => path !== '' && path.length <= LONGEST_PATH && !STREAMS.has(path));
}

/** The value in `-I/path` and `-C../x`: the text from the first character that must belong to a path. */
function valueOfOption(option: string): string | undefined {
  const at = option.search(/[/\\~]|\.\./);
  return at === -1 ? undefined : option.slice(at);
}
