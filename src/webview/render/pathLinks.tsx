// Finds paths such as `src/menu.ts:12:3` in text and makes them open the editor. Linear: each word is examined once.
import type { ComponentChildren } from 'preact';
import { useActions } from './actions.ts';

const LONGEST = 300;
const MOST_LINKS = 500;
/** Characters that can surround a path. */
const SEPARATORS = /([\s"'`()<>[\]{},;|]+)/;

/** Names that are surely files: `a.b` in code is more often a property. */
const FILES =
  /\.(?:[cm]?[jt]sx?|json|md|txt|py|go|rs|java|kt|cs|c|h|cpp|hpp|rb|php|swift|css|html?|ya?ml|toml|sh|sql|xml|vue|svelte)$/i;

interface PathPlace {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** Undefined if the word is not clearly a path: without a folder it needs a line number. */
export function readPath(word: string, alone = false): PathPlace | undefined {
  if (word.length > LONGEST || word.includes('://') || word.startsWith('@')) return undefined;
  const [, path = '', line, column] = /^(.*?)(?::(\d{1,7}))?(?::(\d{1,7}))?$/.exec(word) ?? [];
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!/^[\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(name) || /[\\:*?]/.test(path)) return undefined;
  if (!path.includes('/') && line === undefined && !(alone && FILES.test(name))) return undefined;
  const [row, place] = [Number(line ?? 0), Number(column ?? 0)];
  return { path, ...(row > 0 && { line: row }), ...(row > 0 && place > 0 && { column: place }) };
}

/** Makes inline code that is a path a link; there a file name without a folder is enough. */
export function linkPath(text: string): ComponentChildren {
  const place = readPath(text, true);
  return place === undefined ? text : <PathLink place={place}>{text}</PathLink>;
}

/** The text with its paths as links. */
export function linkPaths(text: string): ComponentChildren {
  const parts = text.split(SEPARATORS);
  const nodes: ComponentChildren[] = [];
  let plain = '';
  let links = 0;
  for (const [index, part] of parts.entries()) {
    const word = withoutPunctuation(part);
    const end = part.slice(word.length);
    const found = links < MOST_LINKS && word.length > 2 ? readPath(word) : undefined;
    if (found === undefined) {
      plain += part;
      continue;
    }
    const place = found.line === undefined && end === '' ? { ...found, ...placeInParentheses(parts, index) } : found;
    links += 1;
    if (plain !== '') nodes.push(plain);
    nodes.push(
      <PathLink key={links} place={place}>
        {word}
      </PathLink>,
    );
    plain = end;
  }
  if (links === 0) return text;
  return [...nodes, plain];
}

/** Compilers write `src/menu.ts(3,1)`. */
function placeInParentheses(parts: readonly string[], index: number): Partial<PathPlace> {
  const [, opening = '', line = '', comma = '', column = '', closing = ''] = parts.slice(index, index + 6);
  if (opening !== '(' || !/^\d{1,7}$/.test(line) || Number(line) === 0) return {};
  if (comma.startsWith(')')) return { line: Number(line) };
  const hasColumn = comma === ',' && /^\d{1,7}$/.test(column) && closing.startsWith(')') && Number(column) > 0;
  return hasColumn ? { line: Number(line), column: Number(column) } : {};
}

function withoutPunctuation(word: string): string {
  let end = word.length;
  while (end > 0 && '.:!?…'.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

function PathLink({ place, children }: { readonly place: PathPlace; readonly children: ComponentChildren }) {
  const { post, offers } = useActions();
  if (!offers('open_file')) return <>{children}</>;
  return (
    <button
      type="button"
      class="link path-link"
      title={place.path}
      onClick={() => post({ type: 'open_file', ...place })}
    >
      {children}
    </button>
  );
}
