// Checks requests like an endpoint that accepts only the documented message format. Independent of our code.

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

interface WireCall {
  readonly id: string;
}

/** Returns every broken rule as text. `alternating`: user and assistant messages must alternate. */
export function refusals(messages: readonly unknown[], alternating = false): string[] {
  const found: string[] = [];
  let awaited = new Set<string>();
  const object = (index: number, what: string) => found.push(`messages[${index}]: ${what}`);
  for (const [index, value] of messages.entries()) {
    const message = value as WireMessage;
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!awaited.delete(id)) object(index, `a result for ${id}, which no assistant message just before asked for`);
      if (!hasContent(message.content)) object(index, 'a result without content');
      continue;
    }
    if (awaited.size > 0) object(index, `results are missing for ${[...awaited].join(', ')}`);
    awaited = new Set();
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        if (!hasContent(message.content)) object(index, `${message.role} without content`);
        break;
      case 'assistant': {
        const calls = callsOf(message, (what) => object(index, what));
        if (calls.length === 0 && !hasContent(message.content))
          object(index, 'assistant with neither content nor calls');
        awaited = new Set(calls.map(({ id }) => id));
        if (awaited.size !== calls.length) object(index, 'two calls with one id');
        break;
      }
      default:
        object(index, `there is no role ${message.role}`);
    }
  }
  if (awaited.size > 0) object(messages.length, `results are missing for ${[...awaited].join(', ')}`);
  return alternating ? [...found, ...turnsOf(messages as readonly WireMessage[])] : found;
}

function callsOf(message: WireMessage, object: (what: string) => void): WireCall[] {
  if (message.tool_calls === undefined) return [];
  if (!Array.isArray(message.tool_calls) || message.tool_calls.length === 0) {
    object('tool_calls is not a list of calls');
    return [];
  }
  return message.tool_calls.map((value: unknown) => {
    const call = value as { id?: unknown; type?: unknown; function?: { name?: unknown; arguments?: unknown } };
    const id = typeof call.id === 'string' ? call.id : '';
    if (id === '') object('a call without an id');
    if (call.type !== 'function' || typeof call.function?.name !== 'string') object(`${id} is no function`);
    if (!isObjectText(call.function?.arguments)) object(`the arguments of ${id} are no JSON object`);
    return { id };
  });
}

function turnsOf(messages: readonly WireMessage[]): string[] {
  const found: string[] = [];
  let last = 'assistant';
  for (const [index, { role }] of messages.entries()) {
    if (role === 'system' || role === 'developer') {
      if (index > 0) found.push(`messages[${index}]: a late ${role} message`);
      continue;
    }
    if (role === 'user' && last !== 'assistant') found.push(`messages[${index}]: user after ${last}`);
    if (role === 'assistant' && last === 'assistant') found.push(`messages[${index}]: assistant after ${last}`);
    last = role;
  }
  return found;
}

function hasContent(content: unknown): boolean {
  if (typeof content === 'string') return true;
  return Array.isArray(content) && content.length > 0;
}

function isObjectText(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
