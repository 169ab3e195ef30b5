// The card of a tool call: one line with title and state, opening to arguments and output.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FileDiff } from '../../protocol/page/diffView.ts';
import type { HandleView } from '../../protocol/page/handlesView.ts';
import type { QuestionView, ToolState } from '../../protocol/transcript.ts';
import { failureLine } from '../failureLine.ts';
import { type Growing, wholeText } from '../growing.ts';
import { readGrowing } from '../partialJson.ts';
import type { ToolItem } from '../state.ts';
import { t } from '../strings/l10n.ts';
import { strings } from '../strings/strings.ts';
import { titlePath, toolIcon, toolTitle } from '../toolTitle.ts';
import { transcriptStrings as ofTranscript } from '../strings/transcriptStrings.ts';
import { useActions } from './actions.ts';
import { Approval } from './approval.tsx';
import { Carried } from './carried.tsx';
import { Counts, Diffs } from './diff/diff.tsx';
import { Icon, type IconName } from './icons.tsx';
import { GrowingText } from './markdown/growingText.tsx';
import { linkPaths } from './pathLinks.tsx';
import { AgentLine, useHandle } from '../cards/agentLine.tsx';
import { useReveal } from '../cards/reveal.ts';
import { MediaList } from '../cards/media.tsx';
import { AskedQuestion, Question } from './question.tsx';
import { ForModel } from './request.tsx';
import { RequestButton } from './requestButton.tsx';
import { ToolArguments } from './toolArguments.tsx';
import { visibleText } from './visibleText.ts';

/** The duration of shorter calls is not shown. */
const SHOWN_DURATION = 1000;

const STATE_ICONS: Record<ToolState, IconName> = {
  approval: 'warning',
  question: 'question',
  writing: 'loading',
  running: 'loading',
  done: 'check',
  failed: 'error',
  rejected: 'circle-slash',
  not_run: 'circle-slash',
  interrupted: 'debug-stop',
};

export function ToolCard({ item: given }: { readonly item: ToolItem }) {
  const item = useMemo(() => asWritten(given), [given]);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const id = useId();
  useReveal([item.id], () => setChosen(true));
  const asks = item.state === 'question';
  const waits = item.state === 'approval' || asks;
  // A card that needs an answer cannot be folded.
  const open = waits || (chosen ?? opensItself(item));
  const title = visibleText(toolTitle(item.name, item.arguments));
  const diffs = useDiffs(item);
  const { followed } = useActions();
  const shownState = stateWith(useHandle(item.id), item.state);
  const state = followed && item.state === 'running' ? ofTranscript.openElsewhere : strings.states[shownState];
  // For an approval of a single file the counts are next to its name.
  const previewed = item.approval?.preview?.files ?? NONE;
  const counted = item.state !== 'approval' ? diffs : previewed.length > 1 ? previewed : NONE;
  return (
    <section class={`tool state-${shownState}`} aria-label={title}>
      <button
        type="button"
        class="tool-head"
        aria-expanded={open}
        aria-controls={id}
        disabled={waits}
        onClick={() => setChosen(!open)}
      >
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <Icon name={toolIcon(item.name)} />
        <span class="tool-title" title={title}>
          {open && item.question !== undefined && item.name === 'ask_user' ? (
            ofTranscript.question
          ) : (
            <Title title={title} path={titlePath(item.name, item.arguments)} />
          )}
        </span>
        {counted.length > 0 && <Counts added={sum(counted, 'added')} removed={sum(counted, 'removed')} />}
        {item.milliseconds !== undefined && item.milliseconds >= SHOWN_DURATION && (
          <span class="tool-duration">{ofTranscript.duration(item.milliseconds)}</span>
        )}
        <span class="tool-state" title={state}>
          <Icon name={STATE_ICONS[shownState]} />
          <span>{state}</span>
        </span>
        {!open && item.state === 'failed' && <span class="tool-error">{errorLine(item)}</span>}
        {!open && item.question?.answer !== undefined && <span class="tool-answer">{answerLine(item.question)}</span>}
      </button>
      {item.answeredBy !== undefined && (
        <p class="quiet">{strings.answeredBy(visibleText(item.answeredBy), item.answeredProgram)}</p>
      )}
      {followed && item.state === 'running' && <p class="quiet">{ofTranscript.openElsewhereDetail}</p>}
      {item.agent !== undefined && <AgentLine call={item.id} conversation={item.agent} />}
      <div id={id} class="tool-body" hidden={!open}>
        {item.state === 'approval' && <Approval key={item.id} item={item} />}
        {asks && item.question !== undefined && (
          <Question key={item.question.id} question={item.question} item={item.id} />
        )}
        {open && diffs.length > 0 && <Diffs files={diffs} call={item.id} />}
        {open && !waits && diffs.length === 0 && <Details item={item} />}
        {open && showsOutput(item) && <Result item={item} />}
        {open && item.media !== undefined && <MediaList media={item.media} />}
        {open && !asks && item.state !== 'writing' && <RequestButton item={item.id} />}
        {open && runsInForeground(item) && <RunningActions call={item.id} />}
      </div>
      {item.carried !== undefined && <Carried carried={item.carried} item={item.id} />}
    </section>
  );
}

/** A call that started a background command or a subagent is not done while that runs. */
function stateWith(handle: HandleView | undefined, state: ToolState): ToolState {
  if (state !== 'done' || handle === undefined) return state;
  if (handle.state === 'failed') return 'failed';
  return handle.state === 'stopped' ? 'done' : 'running';
}

/**
 * A click on the path opens the file; a click next to it opens the card. A button cannot contain a link: for the
 * keyboard there is one in the open card.
 */
function Title({ title, path }: { readonly title: string; readonly path: string | undefined }) {
  const { post, offers } = useActions();
  if (path === undefined || !title.endsWith(path) || !offers('open_file')) return <>{title}</>;
  const openPath = (event: MouseEvent) => {
    event.stopPropagation();
    post({ type: 'open_file', path });
  };
  return (
    <>
      {title.slice(0, -path.length)}
      <span class="title-path" onClick={openPath}>
        {path}
      </span>
    </>
  );
}

/** Whether the call waits for the end of its command. */
function runsInForeground({ name, state, arguments: args }: ToolItem): boolean {
  return name === 'run_command' && state === 'running' && args['background'] !== true;
}

function RunningActions({ call }: { readonly call: string }) {
  const { post, offers, followed } = useActions();
  if (followed || !offers('move_to_background')) return null;
  return (
    <div class="tool-actions">
      <button
        type="button"
        class="secondary"
        title={strings.moveToBackgroundTitle}
        onClick={() => post({ type: 'move_to_background', tool_call_id: call })}
      >
        {strings.moveToBackground}
      </button>
      {offers('show_terminal') && (
        <button
          type="button"
          class="secondary"
          title={strings.terminalTitle}
          onClick={() => post({ type: 'show_terminal', call })}
        >
          {strings.terminal}
        </button>
      )}
    </div>
  );
}

/** While a call streams, its arguments are parsed as far as possible. */
function asWritten(item: ToolItem): ToolItem {
  return item.state === 'writing' ? { ...item, arguments: readGrowing(item.output) } : item;
}

const NONE: readonly FileDiff[] = [];

/** Empty until the call has ended, and if it changed nothing. */
function useDiffs({ id, changes }: ToolItem): readonly FileDiff[] {
  const { readDiff } = useActions();
  const [diffs, setDiffs] = useState(NONE);
  const changed = changes !== undefined && changes.length > 0;
  useEffect(() => {
    if (!changed) return;
    let here = true;
    const show = (files: readonly FileDiff[]) => here && setDiffs(files);
    readDiff(id).then(show, () => undefined);
    return () => {
      here = false;
    };
  }, [id, changed]);
  return diffs;
}

function sum(diffs: readonly FileDiff[], side: 'added' | 'removed'): number {
  return diffs.reduce((total, diff) => total + diff[side], 0);
}

function Details({ item }: { readonly item: ToolItem }) {
  if (item.question === undefined)
    return <ToolArguments name={item.name} values={item.arguments} writing={item.state === 'writing'} />;
  return <AskedQuestion question={item.question} ended={item.state !== 'running'} />;
}

/** The result of a question repeats the answer, which is shown with the question. */
function showsOutput({ state, question, output }: ToolItem): boolean {
  if (state === 'writing') return false;
  if (question !== undefined) return state === 'failed' || state === 'interrupted';
  return output.length > 0 || (state !== 'approval' && state !== 'running');
}

/** A card is open while there is something to follow, and folds when the call has ended. */
function opensItself(item: ToolItem): boolean {
  if (item.state === 'writing') return Object.keys(item.arguments).length > 0;
  if (item.state !== 'running') return false;
  return item.question !== undefined || item.output.length > 0 || runsInForeground(item);
}

const LONGEST_ERROR = 200;

function errorLine({ output, failure }: ToolItem): string {
  if (failure !== undefined) return t(failure);
  return visibleText(failureLine(wholeText(output)).slice(0, LONGEST_ERROR));
}

/** The answer of a question, on its folded card. */
function answerLine({ answer, fields }: QuestionView): string {
  const given = [answer ?? ''].flat().filter((one) => one.trim() !== '');
  if (given.length === 0) return strings.questionSkipped;
  return fields === undefined ? visibleText(given.join(', ').slice(0, LONGEST_ERROR)) : ofTranscript.formFilledIn;
}

/** Paths are links in outputs up to this length. */
const LINKED = 20_000;

/** The text of a known failure was written for the model, so it is labelled as such. */
function Result({ item }: { readonly item: ToolItem }) {
  const { failure } = item;
  const output = <Output text={item.output} ended={item.state !== 'running'} />;
  if (failure === undefined) return output;
  return (
    <>
      <p>{t(failure)}</p>
      <ForModel open>{output}</ForModel>
    </>
  );
}

/** Follows the end of running output until the reader scrolls up. What is opened later begins at its beginning. */
function Output({ text, ended }: { readonly text: Growing; readonly ended: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const following = useRef(!ended);
  useLayoutEffect(() => {
    if (following.current && element.current !== null) element.current.scrollTop = element.current.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const area = element.current;
    if (area !== null) following.current = area.scrollHeight - area.scrollTop - area.clientHeight < 8;
  };
  if (text.length === 0) return <p class="quiet">{strings.noOutput}</p>;
  return (
    <div class="output" ref={element} tabIndex={0} role="group" aria-label={strings.output} onScroll={onScroll}>
      {ended && text.length <= LINKED ? <div>{linkPaths(wholeText(text))}</div> : <GrowingText text={text} />}
    </div>
  );
}
