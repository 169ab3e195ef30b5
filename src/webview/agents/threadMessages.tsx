// The messages of a thread, with their authors, scopes and mentions, and what has not reached a model yet.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { AgentMessageView } from '../../protocol/page/agentsView.ts';
import { formatAge } from '../strings/panelStrings.ts';
import { Icon } from '../render/icons.tsx';
import { Markdown } from '../render/markdown/markdown.tsx';
import { createMarkdownStream } from '../render/markdown/markdownStream.ts';
import { visibleText } from '../render/visibleText.ts';
import { agentsStrings as strings } from './agentsStrings.ts';

export function ThreadMessages({ messages }: { readonly messages: readonly AgentMessageView[] }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' }), [messages.length]);
  return (
    <ul class="thread-messages" ref={list} tabIndex={0} aria-label={strings.threads} aria-live="polite">
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
    </ul>
  );
}

function MessageText({ text }: { readonly text: string }) {
  const view = useMemo(() => {
    const stream = createMarkdownStream();
    stream.append(text);
    stream.finish();
    return stream.view();
  }, [text]);
  return <Markdown view={view} />;
}

function Message({ message }: { readonly message: AgentMessageView }) {
  const { author, machine, own, text, format, deleted, edited, at, mentions, scopes, pendingIn } = message;
  const from = own ? strings.kinds.me : visibleText(author);
  return (
    <li class={`message${own ? ' is-own' : ''}`}>
      <p class="message-head">
        <span class="agent-name">{from}</span>
        {machine !== undefined && <span class="quiet"> {strings.on(machine)}</span>}
        <span class="quiet">
          {' '}
          · {formatAge(Date.now() - Date.parse(at))}
          {edited && ` · ${strings.edited}`}
        </span>
      </p>
      {mentions.length > 0 && (
        <p class="message-to quiet">{strings.sentTo(mentions.map((name) => `@${visibleText(name)}`).join(', '))}</p>
      )}
      {deleted ? (
        <p class="quiet">{strings.deleted}</p>
      ) : format === 'markdown' ? (
        <MessageText text={text} />
      ) : (
        <pre class="message-plain">{visibleText(text)}</pre>
      )}
      {scopes.length > 0 && (
        <ul class="message-scopes">
          {scopes.map((scope) => (
            <li key={scope}>
              <Icon name="file" /> {visibleText(scope)}
            </li>
          ))}
        </ul>
      )}
      {pendingIn.length > 0 && (
        <p class="message-pending" role="status">
          <Icon name="clock" /> {strings.pendingIn(pendingIn.map(visibleText).join(', '))}
        </p>
      )}
    </li>
  );
}
