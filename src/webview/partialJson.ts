// Reads the beginning of a JSON object, as far as it goes: for drawing a call while it is written, never to run it.

type Values = Readonly<Record<string, unknown>>;

/** Empty where nothing can be read yet. */
export function readPartial(text: string): Values {
  const value = parse(complete(text));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** Closes what is open: a text where it stands, anything else after the last whole value. */
function complete(text: string): string {
  /** What closes what is open, the outermost first. It changes only where a value ends, so that it fits `end`. */
  const open: string[] = [];
  let end = 0;
  let [key, inText, inKey] = [false, false, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') {
        inText = false;
        if (!inKey) end = at + 1;
      }
    } else if (character === '"') [inText, inKey] = [true, key];
    else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      key = character === '{';
      end = at + 1;
    } else if (character === '}' || character === ']') {
      open.pop();
      end = at + 1;
    } else if (character === ':') key = false;
    else if (character === ',') {
      key = open.at(-1) === '}';
      end = at;
    }
  }
  const closing = open.reverse().join('');
  if (inText && !inKey) return `${text.replace(/\\(u[0-9a-f]{0,3})?$/i, '')}"${closing}`;
  return text.slice(0, end) + closing;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
