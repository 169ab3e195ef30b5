// The approval card of a tool call: shows it in full, works from the keyboard, and prevents accidental answers.
import { useEffect, useRef, useState } from 'preact/hooks';
import { TaskCommand } from '../cards/taskCommand.tsx';
import { useLoaded } from '../loaded.ts';
import { MenuButton } from '../panel/menu.tsx';
import type { FromPage } from '../../protocol/webview.ts';
import type { ToolItem } from '../state.ts';
import { approvalStrings } from '../strings/approvalStrings.ts';
import { t } from '../strings/l10n.ts';
import { useWords } from '../strings/words.ts';
import { strings } from '../strings/strings.ts';
import { isKnownTool, toolLabel, toolTitle, commandOf } from '../toolTitle.ts';
import { useActions } from './actions.ts';
import { Icon } from './icons.tsx';
import { useRequestButton } from '../cards/primary.ts';
import { focusAfterAnswer, takeFocusWhenIdle } from './takeFocus.ts';
import { Changes, ToolArguments } from './toolArguments.tsx';
import { visibleText } from './visibleText.ts';
import { parseObject } from '../../base/json/outsideJson.ts';

type Answer = Omit<Extract<FromPage, { type: 'approve' }>, 'type' | 'tool_call_id'>;

export function Approval({ item }: { readonly item: ToolItem }) {
  const actions = useActions();
  const inWords = useWords();
  const group = useRef<HTMLDivElement>(null);
  const [modifying, setModifying] = useState(false);
  const [sent, setSent] = useState(false);
  const answered = useRef(false);
  const { reason, note, always, alwaysServer, problem, origins } = item.approval ?? {};
  const loaded = useLoaded(origins !== undefined, () => import('../cards/origins.tsx'));
  useEffect(() => {
    // Focuses the group, not a button: a key pressed at this moment must not answer.
    const release = group.current === null ? undefined : takeFocusWhenIdle(group.current, actions.focusComposer);
    return () => {
      release?.();
      if (answered.current) focusAfterAnswer(actions.focusComposer);
    };
  }, []);
  // Asked again with a problem: the card can be answered once more.
  useEffect(() => setSent(false), [item.approval]);

  const answer = (given: Answer) => {
    if (sent) return;
    setSent(true);
    answered.current = true;
    const { conversation, post } = actions;
    const revision = item.approval?.revision;
    post({ type: 'approve', conversation, tool_call_id: item.id, revision, ...given });
  };
  return (
    <div
      class="approval"
      role="group"
      tabIndex={-1}
      ref={group}
      aria-label={strings.approvalLabel(toolTitle(item.name, item.arguments))}
    >
      <p class="approval-question">{strings.approvalQuestion[item.name] ?? questionFor(item.name)}</p>
      {reason !== undefined && <p class="approval-reason">{strings.approvalBecause(visibleText(inWords(reason)))}</p>}
      {note !== undefined && item.name !== 'wake_when' && <p class="quiet">{visibleText(inWords(note))}</p>}
      {problem !== undefined && (
        <p class="approval-problem" role="alert">
          {strings.approvalProblem(inWords(problem))}
        </p>
      )}
      {modifying ? (
        <Modify
          item={item}
          sent={sent}
          run={(values) => answer({ action: 'modify', arguments: values })}
          back={() => setModifying(false)}
        />
      ) : (
        <>
          <Preview item={item} />
          {origins !== undefined && loaded !== undefined && <loaded.Origins origins={origins} card={group} />}
          <Buttons
            item={item.id}
            always={always === item.name ? approvalStrings.everyCall(toolLabel(always)) : always}
            alwaysServer={alwaysServer}
            sent={sent}
            answer={answer}
            modify={() => setModifying(true)}
          />
        </>
      )}
    </div>
  );
}

/** A tool of a server is named as the server names it. */
function questionFor(name: string): string {
  return isKnownTool(name)
    ? strings.approvalQuestionKnown(toolLabel(name))
    : strings.approvalQuestionOther(toolLabel(name));
}

/** The changes compared with the current files if known, otherwise the arguments. */
function Preview({ item }: { readonly item: ToolItem }) {
  const { files = [], more = 0, refusal, failure } = item.approval?.preview ?? {};
  const task = item.approval?.task;
  if (task !== undefined) return <TaskCommand task={task} />;
  return (
    <>
      {refusal !== undefined && (
        <p class="approval-problem">
          {strings.previewRefused(failure === undefined ? visibleText(refusal) : t(failure))}
        </p>
      )}
      {files.length > 0 ? <Changes files={files} /> : <ToolArguments name={item.name} values={item.arguments} />}
      {more > 0 && <p class="quiet">{strings.previewMore(more)}</p>}
    </>
  );
}

/** One choice for each scope, and for each scope of the whole MCP server. */
function alwaysChoices(always: string, server: string | undefined, answer: (given: Answer) => void) {
  const scopes = ['conversation', 'folder'] as const;
  const ofTool = scopes.map((scope) => ({
    id: scope,
    label: approvalStrings.alwaysIn[scope],
    detail: always,
    run: () => answer({ action: 'approve', always: { scope } }),
  }));
  if (server === undefined) return ofTool;
  const ofServer = scopes.map((scope) => ({
    id: `server ${scope}`,
    label: approvalStrings.serverIn[scope](visibleText(server)),
    detail: approvalStrings.serverDetail,
    run: () => answer({ action: 'approve', always: { scope, server: true } }),
  }));
  return [...ofTool, ...ofServer];
}

interface ButtonsProperties {
  readonly item: string;
  readonly always: string | undefined;
  readonly alwaysServer: string | undefined;
  readonly sent: boolean;
  readonly answer: (given: Answer) => void;
  readonly modify: () => void;
}

function Buttons({ item, always, alwaysServer, sent, answer, modify }: ButtonsProperties) {
  const { offers } = useActions();
  const main = useRequestButton(item);
  const [reason, setReason] = useState('');
  const reject = () => {
    const given = reason.trim();
    answer({ action: 'reject', ...(given === '' ? {} : { reason: given }) });
  };
  const onReasonKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    reject();
  };
  // `aria-disabled`, because `disabled` would lose the focus before the card has changed.
  return (
    <div class="approval-buttons">
      <button
        type="button"
        class={`${main} approve`}
        aria-disabled={sent}
        // Only the editor has the key.
        title={offers('show_rules') ? approvalStrings.approveTitle : approvalStrings.approve}
        onClick={() => answer({ action: 'approve' })}
      >
        {approvalStrings.approve}
      </button>
      {always !== undefined && (
        <MenuButton
          class="secondary"
          label={approvalStrings.always}
          title={approvalStrings.alwaysTitle(visibleText(always))}
          choices={alwaysChoices(visibleText(always), alwaysServer, answer)}
        >
          {approvalStrings.always}
          <Icon name="chevron-down" />
        </MenuButton>
      )}
      <button type="button" class="secondary" aria-disabled={sent} title={strings.modifyTitle} onClick={modify}>
        {strings.modify}
      </button>
      <div class="reject">
        <button type="button" class="secondary" aria-disabled={sent} onClick={reject}>
          {strings.reject}
        </button>
        <input
          type="text"
          class="reason"
          value={reason}
          maxLength={10_000}
          readOnly={sent}
          placeholder={strings.rejectReasonBrief}
          aria-label={strings.rejectReason}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={onReasonKey}
        />
      </div>
    </div>
  );
}

interface Properties {
  readonly item: ToolItem;
  readonly sent: boolean;
  readonly run: (values: Record<string, unknown>) => void;
  readonly back: () => void;
}

/** Edits a call before it runs: a command as its command line, other calls as JSON. */
function Modify({ item, sent, run, back }: Properties) {
  const command = commandOf(item.name, item.arguments);
  const [text, setText] = useState(command ?? JSON.stringify(item.arguments, null, 2));
  const field = useRef<HTMLTextAreaElement>(null);
  const main = useRequestButton(item.id);
  useEffect(() => field.current?.focus(), []);
  const values = command === undefined ? parseObject(text) : { ...item.arguments, command: text };
  const submit = () => {
    if (values !== undefined) run({ ...values });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    // In JSON, Enter inserts a line break.
    const submits = event.key === 'Enter' && (command === undefined ? event.ctrlKey || event.metaKey : !event.shiftKey);
    if (submits) submit();
    else if (event.key === 'Escape') back();
    else return;
    event.preventDefault();
  };
  return (
    <div class="modify">
      <textarea
        ref={field}
        class="modify-text"
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        readOnly={sent}
        spellcheck={false}
        aria-label={command === undefined ? strings.modifyArguments : strings.modifyCommand}
        aria-invalid={values === undefined}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {values === undefined && (
        <p class="approval-problem" role="status">
          {strings.modifyNotObject}
        </p>
      )}
      <div class="approval-buttons">
        <button type="button" class={main} aria-disabled={sent || values === undefined} onClick={submit}>
          {strings.modifyRun}
        </button>
        <button type="button" class="secondary" aria-disabled={sent} onClick={back}>
          {strings.modifyCancel}
        </button>
      </div>
    </div>
  );
}
