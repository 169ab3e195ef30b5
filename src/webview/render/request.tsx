// Renders a request: the user's with its actions (edit, send again, copy, restore), or an automatic one with its reason.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { describeAutomatic, notificationStrings as ofNotifications } from '../strings/notificationStrings.ts';
import type { RequestItem } from '../state.ts';
import { strings } from '../strings/strings.ts';
import { transcriptStrings } from '../strings/transcriptStrings.ts';
import { useActions } from './actions.ts';
import { SentImages } from '../cards/media.tsx';
import { Carried } from './carried.tsx';
import { CopyButton } from './copyButton.tsx';
import { Icon, IconButton } from './icons.tsx';
import { useButtonAfterRequests } from '../cards/primary.ts';
import { visibleText } from './visibleText.ts';

export function Request({ item }: { readonly item: RequestItem }) {
  const [editing, setEditing] = useState(false);
  const automated = item.source === 'system';
  const meanwhile = item.meanwhile === true;
  const byAgent = item.byAgent === true;
  const isForced = item.forced === true;
  const automatic = describeAutomatic(isForced, item.carried?.labels);
  const label = automated ? automatic : byAgent ? strings.taskOfAgent : meanwhile ? strings.meanwhile : strings.you;
  return (
    <article class={`request request-${item.source}${meanwhile ? ' request-meanwhile' : ''}`} aria-label={label}>
      {automated && (
        <p class="request-source">
          <Icon name="bell" /> {ofNotifications.automatic(isForced)}
        </p>
      )}
      {byAgent && (
        <p class="request-source">
          <Icon name="fork" /> {strings.taskOfAgent}
        </p>
      )}
      {!meanwhile && !editing && <RequestActions item={item} edit={() => setEditing(true)} />}
      {editing ? (
        <EditField item={item} close={() => setEditing(false)} />
      ) : automated ? (
        <ForModel>{item.text}</ForModel>
      ) : (
        item.text !== '' && (
          <div class="request-text" dir="auto">
            {item.text}
          </div>
        )
      )}
      {!editing && item.expanded !== undefined && <ForModel>{item.expanded}</ForModel>}
      {item.images !== undefined && <SentImages images={item.images} />}
      {item.attachments !== undefined && (
        <ul class="request-attachments" aria-label={strings.attachmentList}>
          {item.attachments.map((name) => (
            <li key={name}>
              <Icon name="file" /> {visibleText(name)}
            </li>
          ))}
        </ul>
      )}
      {item.carried !== undefined && <Carried carried={item.carried} item={item.id} />}
    </article>
  );
}

function RequestActions({ item, edit }: { readonly item: RequestItem; readonly edit: () => void }) {
  const { post, offers } = useActions();
  const ofUser = item.source === 'user';
  return (
    <div class="request-actions">
      {ofUser && (
        <>
          {offers('resend') && (
            <>
              <IconButton icon="edit" label={transcriptStrings.edit} run={edit} />
              <IconButton
                icon="retry"
                label={transcriptStrings.retry}
                run={() => post({ type: 'resend', instead_of: item.id })}
              />
            </>
          )}
          <CopyButton label={transcriptStrings.copyMessage} read={() => item.text} />
        </>
      )}
      {offers('restore') && (
        <IconButton
          icon="restore"
          label={strings.restoreTitle}
          run={() => post({ type: 'restore', request: item.id })}
        />
      )}
    </div>
  );
}

function EditField({ item, close }: { readonly item: RequestItem; readonly close: () => void }) {
  const { post } = useActions();
  const field = useRef<HTMLTextAreaElement>(null);
  const main = useButtonAfterRequests();
  const [text, setText] = useState(item.text);
  // At once: keys that follow the click belong to the field.
  useLayoutEffect(() => field.current?.focus(), []);
  const send = () => {
    if (text.trim() === '') return;
    post({ type: 'resend', instead_of: item.id, content: text });
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.key === 'Process') return;
    if (event.key === 'Enter' && !event.shiftKey) send();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="request-edit">
      <textarea
        class="modify-text"
        dir="auto"
        ref={field}
        rows={3}
        value={text}
        maxLength={1_000_000}
        aria-label={transcriptStrings.editField}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="approval-buttons">
        <button type="button" class={main} title={transcriptStrings.resendTitle} onClick={send}>
          {transcriptStrings.resend}
        </button>
        <button type="button" class="secondary" onClick={close}>
          {transcriptStrings.cancel}
        </button>
      </div>
    </div>
  );
}

/** The text was written for the model, so it is labelled as such, and folded unless `open`. */
export function ForModel({
  children,
  open = false,
}: {
  readonly children: ComponentChildren;
  readonly open?: boolean;
}) {
  return (
    <details class="automatic" open={open}>
      <summary>{ofNotifications.automaticText}</summary>
      <div class="request-text">{children}</div>
    </details>
  );
}
