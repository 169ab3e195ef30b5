// The card of a question: answered by text, by options or by a form, or skipped.
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { QuestionView } from '../../protocol/transcript.ts';
import { strings } from '../strings/strings.ts';
import { useWords } from '../strings/words.ts';
import { useActions } from './actions.ts';
import { FilledForm, FormFields } from '../cards/form.tsx';
import { Icon } from './icons.tsx';
import { Markdown } from './markdown/markdown.tsx';
import { createMarkdownStream } from './markdown/markdownStream.ts';
import { useRequestButton } from '../cards/primary.ts';
import { focusAfterAnswer, takeFocusWhenIdle } from './takeFocus.ts';
import { visibleText } from './visibleText.ts';

const LIMIT = 100_000;

interface Properties {
  readonly question: QuestionView;
  /** The item with the question. */
  readonly item: string;
}

export function Question({ question, item }: Properties) {
  const actions = useActions();
  const inWords = useWords();
  const main = useRequestButton(item);
  const group = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const answered = useRef(false);
  const { options = [], several, problem, fields } = question;
  useEffect(() => {
    // Focuses the group, not a field: a key pressed at this moment must not answer.
    const release = group.current === null ? undefined : takeFocusWhenIdle(group.current, actions.focusComposer);
    return () => {
      release?.();
      if (answered.current) focusAfterAnswer(actions.focusComposer);
    };
  }, []);
  useEffect(() => setSent(false), [question]);

  const written = text.trim();
  const all = written === '' ? chosen : [...chosen, text];
  const post = (answer: string | string[]) => {
    if (sent) return;
    setSent(true);
    answered.current = true;
    actions.post({ type: 'answer', inquiry_id: question.id, answer });
  };
  const submit = () => {
    if (all.length > 0) post(several ? [...all] : (all[0] ?? ''));
  };
  const choose = (option: string, on: boolean) => {
    if (several) setChosen(options.filter((one) => (one === option ? on : chosen.includes(one))));
    else if (on) setChosen([option]);
    // A single answer: the chosen option replaces the text.
    if (!several) setText('');
  };
  const write = (next: string) => {
    setText(next);
    if (!several && next.trim() !== '') setChosen([]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const field = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || !field) return;
    // The browser submits a form, and checks it first.
    if (fields !== undefined) return;
    event.preventDefault();
    submit();
  };
  // For screen readers: without backticks.
  const asked = visibleText(question.text).replaceAll('`', '');
  return (
    <div
      class="approval question"
      role="group"
      tabIndex={-1}
      ref={group}
      aria-label={strings.questionLabel(asked)}
      onKeyDown={onKeyDown}
    >
      <QuestionText text={question.text} />
      {problem !== undefined && (
        <p class="approval-problem" role="alert">
          {strings.questionProblem(inWords(problem))}
        </p>
      )}
      {fields !== undefined ? (
        <FormFields fields={fields} sent={sent} main={main} post={post} />
      ) : (
        <>
          {options.length > 0 && <Options question={question} chosen={chosen} sent={sent} choose={choose} />}
          <textarea
            class="modify-text answer-text"
            rows={options.length > 0 ? 1 : 3}
            value={text}
            maxLength={LIMIT}
            readOnly={sent}
            placeholder={options.length > 0 ? strings.otherAnswer : strings.yourAnswer}
            aria-label={options.length > 0 ? strings.otherAnswer : strings.yourAnswer}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <div class="approval-buttons">
            <button type="button" class={main} aria-disabled={sent || all.length === 0} onClick={submit}>
              {strings.answer}
            </button>
            <button
              type="button"
              class="secondary"
              aria-disabled={sent}
              title={strings.skipTitle}
              onClick={() => post(several ? [] : '')}
            >
              {strings.skip}
            </button>
          </div>
        </>
      )}
    </div>
  );
}

/** Renders Markdown, since models also write lists and code in questions. */
function QuestionText({ text }: { readonly text: string }) {
  const view = useMemo(() => {
    const stream = createMarkdownStream();
    stream.append(visibleText(text));
    stream.finish();
    return stream.view();
  }, [text]);
  return (
    <div class="approval-question question-text">
      <Markdown view={view} />
    </div>
  );
}

interface OptionsProperties {
  readonly question: QuestionView;
  readonly chosen: readonly string[];
  readonly sent: boolean;
  readonly choose: (option: string, on: boolean) => void;
}

function Options({ question, chosen, sent, choose }: OptionsProperties) {
  const name = useId();
  const label = question.several ? strings.chooseSeveral : strings.chooseOne;
  return (
    <div class="options" role={question.several ? 'group' : 'radiogroup'} aria-label={label}>
      {question.options?.map((option) => (
        <label class="option" key={option}>
          <input
            type={question.several ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.includes(option)}
            disabled={sent}
            onChange={(event) => choose(option, event.currentTarget.checked)}
          />
          <span>{visibleText(option)}</span>
        </label>
      ))}
    </div>
  );
}

/** A question that cannot be answered here: it has ended, or another window asks it. */
export function AskedQuestion({ question, ended }: { readonly question: QuestionView; readonly ended: boolean }) {
  const { options, answer, fields } = question;
  const given = answer === undefined || fields !== undefined ? [] : [answer].flat().filter((one) => one.trim() !== '');
  return (
    <div class="question">
      <QuestionText text={question.text} />
      {fields !== undefined && typeof answer === 'string' && <FilledForm fields={fields} answer={answer} />}
      {options !== undefined && (
        <ul class="options">
          {options.map((option) => (
            <li class={given.includes(option) ? 'option chosen' : 'option'} key={option}>
              <Icon name={given.includes(option) ? 'check' : 'chevron-right'} />
              <span>
                {visibleText(option)}
                {given.includes(option) && <span class="hidden"> ({strings.chosen})</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {given
        .filter((one) => options?.includes(one) !== true)
        .map((one) => (
          <p class="given-answer" key={one}>
            {visibleText(one)}
          </p>
        ))}
      {given.length === 0 && (fields === undefined || answer === undefined) && (
        <p class="quiet">{describeUnanswered(answer !== undefined, ended)}</p>
      )}
    </div>
  );
}

function describeUnanswered(skipped: boolean, ended: boolean): string {
  if (skipped) return strings.questionSkipped;
  return ended ? strings.questionUnanswered : strings.questionElsewhere;
}
