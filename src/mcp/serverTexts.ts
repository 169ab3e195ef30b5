// Texts about a server: why it cannot be used, and its own instructions, bounded.
import { wholeCharacters } from '../base/text.ts';
import { type ServerState } from '../protocol/outside/mcp.ts';

/** Limit of a server's instructions in characters: they are part of every request. */
const MOST_INSTRUCTIONS = 2000;

/** For the model: why a server that is not connected cannot be used. */
export function describeAbsence(state: ServerState, problem: string | undefined): string {
  const why = problem === undefined ? '' : `: ${problem}`;
  switch (state) {
    case 'sign_in':
      return 'the user has to sign in to it first';
    case 'approval':
      return 'the user has not approved its start';
    case 'lost':
    case 'starting':
      return `it is not connected${why}. Earshot tries to connect again`;
    default:
      return `it is not connected${why}`;
  }
}

export function boundInstructions(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') return undefined;
  return trimmed.length <= MOST_INSTRUCTIONS ? trimmed : `${wholeCharacters(trimmed, MOST_INSTRUCTIONS)}… (cut here)`;
}

/** For the model. `names`: connected servers with events. */
export function noServer(server: string, names: readonly string[]): string {
  return `server: the MCP server “${server}” is not connected. Servers with events: ${names.join(', ') || 'none'}.`;
}
