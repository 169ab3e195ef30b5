// Asks the user a question: logs it before it is shown, asks again after a restart, and accepts one answer.
import { defined } from '../../base/json/defined.ts';
import { type EventDraft } from '../../protocol/event.ts';
import { type FormField } from '../../protocol/page/form.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Frontend, type Ids, type InquiryAnswer, type Question } from '../ports/ports.ts';
import { readFormAnswer } from './formAnswers.ts';

export interface InquiryDeps {
  readonly log: ConversationLog;
  readonly frontend: Pick<Frontend, 'requests'>;
  readonly ids: Ids;
}

type InquiryDraft = Extract<EventDraft, { type: 'inquiry_request' }>;

interface AskingCall {
  readonly id: string;
  /**
   * Its tool asks one question and does nothing else. Calls of other tools may ask several, and never continue after a
   * restart.
   */
  readonly asksOnce: boolean;
}

/**
 * Resolves once the answer is in the log, or to undefined if the turn was stopped. If a call that asks once has its
 * question in the log already, because the window was closed meanwhile, that question is asked again, or its answer is
 * used if there is one.
 */
export async function inquire(
  deps: InquiryDeps,
  { id: call, asksOnce }: AskingCall,
  question: Question,
  signal: AbortSignal,
): Promise<string | readonly string[] | undefined> {
  const { log } = deps;
  const before = asksOnce ? log.state.turn.inquiry(call) : undefined;
  if (before?.response !== undefined) return before.response.answer;
  const asked = before?.request ?? (await appendQuestion(deps, call, question));
  const given = await untilUsable(deps, asked, signal);
  if (given === undefined) return undefined;
  const answer = typeof given.answer === 'string' ? given.answer : [...given.answer];
  const program = given.program && { program: { ...given.program } };
  await log.append({ type: 'inquiry_response', id: asked.id, answer, by: given.by, ...program });
  return answer;
}

async function appendQuestion({ log, ids }: InquiryDeps, call: string, question: Question): Promise<InquiryDraft> {
  const { text, options, several, fields } = question;
  const asked: InquiryDraft = {
    type: 'inquiry_request',
    id: ids.ulid(),
    question: text,
    ...(options !== undefined && { options: [...options] }),
    ...(several === true && { several }),
    ...(fields !== undefined && { fields: [...fields] }),
    tool_call_id: call,
  };
  await log.append(asked);
  return asked;
}

async function untilUsable(
  { log, frontend }: InquiryDeps,
  { id, question, options, several, fields, tool_call_id: call }: InquiryDraft,
  signal: AbortSignal,
): Promise<InquiryAnswer | undefined> {
  let problem: string | undefined;
  for (;;) {
    try {
      const given = await frontend.requests.ask(
        {
          conversation: log.id,
          id,
          text: question,
          ...defined({ options, several, fields, call, problem }),
        },
        signal,
      );
      problem = fields === undefined ? whyUnusable(given.answer, several === true) : whyUnfit(fields, given.answer);
      if (problem === undefined) return given;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    }
  }
}

/** Free text is accepted even if options are offered; only the type of the answer is checked. */
function whyUnusable(answer: InquiryAnswer['answer'], several: boolean): string | undefined {
  if (several) return typeof answer === 'string' ? 'Several may be chosen, so a list is wanted.' : undefined;
  return typeof answer === 'string' ? undefined : 'One text is wanted, not a list.';
}

function whyUnfit(fields: readonly FormField[], answer: InquiryAnswer['answer']): string | undefined {
  if (typeof answer !== 'string') return 'One text is wanted, not a list.';
  const read = readFormAnswer(fields, answer);
  return read.type === 'unusable' ? read.problem : undefined;
}
