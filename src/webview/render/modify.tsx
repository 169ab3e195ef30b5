// Edits a call before it runs: a command as its command line, other calls as JSON.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ToolItem } from '../state.ts';
import { strings } from '../strings/strings.ts';
import { commandOf } from '../toolTitle.ts';
import { useRequestButton } from '../cards/primary.ts';

type Values = Readonly<Record<string, unknown>>;

interface Properties {
  readonly item: ToolItem;
  readonly sent: boolean;
  readonly run: (values: Record<string, unknown>) => void;
  readonly back: () => void;
}

export function Modify({ item, sent, run, back }: Properties) {
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

function parseObject(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}
