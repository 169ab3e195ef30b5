// Parses an incomplete JSON object, to show a call while it streams, never to run it.

type Values = Readonly<Record<string, unknown>>;

/** Empty if nothing can be parsed yet. */
export function readPartial(text: string): Values {
  const value = parse(complete(text));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** Closes open values: a string at the end of the text, anything else after the last complete value. */
function complete(text: string): string {
  /** Closing brackets of open values, outermost first. Changes only where `end` changes, so that both agree. */
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
