// Asks the model for the conversation's title after its first answer.
import { wholeCharacters, withoutTrailing } from '../../base/text.ts';
import { type Model } from '../ports/ports.ts';
import { askAside, type SideCallDeps } from './sideCall.ts';

export const TITLE_PROMPT =
  'Name this conversation in at most six words, in the language of the request. Answer with the title alone: no quotes, no full stop.';
const EXCERPT = 2000;

/** Never replaces a given title. Resolves when it is done or was aborted. */
export async function nameConversation(deps: SideCallDeps, signal: AbortSignal): Promise<void> {
  const { log, model } = deps;
  const isNamed = () => log.state.summary.isNamed;
  if (model.ruleBased === true || isNamed()) return;
  const messages = log.state.messages.all;
  const request = messages.find((message) => message.role === 'user')?.content ?? '';
  const answer = messages.findLast((message) => message.role === 'assistant')?.content ?? '';
  if (request === '' || answer === '') return;
  const content = `Request:\n${wholeCharacters(request, EXCERPT)}\n\nAnswer:\n${wholeCharacters(answer, EXCERPT)}`;
  const ask = (by: Model) => askAside({ ...deps, model: by }, { system: TITLE_PROMPT, content }, 'title', signal);
  const small = model.small?.();
  const answered = (small && (await ask(small))) ?? (signal.aborted ? undefined : await ask(model));
  const title = cleanTitle(answered ?? '');
  if (title !== '' && !signal.aborted && !isNamed()) await log.append({ type: 'title_set', title });
}

/** The first line, without the quotes and marks that models put around it. */
function cleanTitle(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  const bare = withoutTrailing(line, ' \t\r\u00a0*"\'“”‘’.')
    .replace(/^[\s#*"'“”‘’]+/u, '')
    .replace(/^title:\s*/i, '');
  return wholeCharacters(bare, 80);
}
