// Reads the beginning of a JSON object, as far as it goes: for drawing a call while it is written, never to run it.

type Values = Readonly<Record<string, unknown>>;

/** Empty where nothing can be read yet. */
export function readPartial(text: string): Values {
  const value = parse(complete(text));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** Closes what is open: a text where it stands, anything else after the last whole value. */
function complete(text: string): string {
  const open: string[] = [];
  let whole = { end: 0, open: '' };
  let [key, inText, inKey] = [false, false, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') {
        inText = false;
        if (!inKey) whole = { end: at + 1, open: open.join('') };
      }
    } else if (character === '"') [inText, inKey] = [true, key];
    else if (character === '{' || character === '[') {
      open.unshift(character === '{' ? '}' : ']');
      key = character === '{';
      whole = { end: at + 1, open: open.join('') };
    } else if (character === '}' || character === ']') {
      open.shift();
      whole = { end: at + 1, open: open.join('') };
    } else if (character === ':') key = false;
    else if (character === ',') {
      key = open[0] === '}';
      whole = { end: at, open: open.join('') };
    }
  }
  if (inText && !inKey) return `${text.replace(/\\(u[0-9a-f]{0,3})?$/i, '')}"${open.join('')}`;
  return text.slice(0, whole.end) + whole.open;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
