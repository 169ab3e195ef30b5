// A code block with its language, a copy button, and highlighting once it is complete.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Growing, wholeText } from '../../growing.ts';
import { memo } from '../../memo.ts';
import { strings } from '../../strings/strings.ts';
import { transcriptStrings as ofTranscript } from '../../strings/transcriptStrings.ts';
import { useActions } from '../actions.ts';
import { CopyButton } from '../copyButton.tsx';
import { IconButton } from '../icons.tsx';
import { GrowingText } from './growingText.tsx';
import { type Coloured, highlight, isPrepared, prepareLanguage } from './highlight.ts';

export const CodeBlock = memo(function CodeBlock({
  text,
  language,
}: {
  readonly text: string;
  readonly language: string;
}) {
  const ready = useLanguage(language, text);
  const coloured = useMemo(() => (ready ? highlight(text, language) : undefined), [text, language, ready]);
  return (
    <CodeFrame language={language} read={() => text}>
      <code>{coloured === undefined ? text : coloured.map(drawColoured)}</code>
    </CodeFrame>
  );
});

/** False until the language's grammar is loaded and compiled; the code stays plain until then. `text`: an example of it. */
export function useLanguage(language: string, text: string): boolean {
  const [prepared, setPrepared] = useState<string | null>(null);
  const ready = prepared === language || isPrepared(language);
  useEffect(() => {
    if (ready) return undefined;
    let here = true;
    prepareLanguage(language, text).then(
      () => here && setPrepared(language),
      // Without its grammar the code stays plain.
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, [language, ready]);
  return ready;
}

export function OpenCodeBlock({ text, language }: { readonly text: Growing; readonly language: string }) {
  return (
    <CodeFrame language={language} read={() => wholeText(text)}>
      <GrowingText text={text} class="growing-code" />
    </CodeFrame>
  );
}

interface FrameProperties {
  readonly language: string;
  readonly read: () => string;
  readonly children: ComponentChildren;
}

function CodeFrame({ language, read, children }: FrameProperties) {
  return (
    <div class="code">
      <div class="code-head">
        <span class="code-language">{language}</span>
        <CodeActions language={language} read={read} />
        <CopyButton label={strings.copy} read={read} />
      </div>
      <pre tabIndex={0} role="group" aria-label={`${strings.code} ${language}`.trim()}>
        {children}
      </pre>
    </div>
  );
}

const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'shell',
  'console',
  'powershell',
  'ps1',
  'bat',
  'cmd',
  'fish',
]);

function CodeActions({ language, read }: { readonly language: string; readonly read: () => string }) {
  const { post, offers } = useActions();
  const isShell = SHELLS.has(language);
  if (!offers('insert_code')) return null;
  return (
    <>
      {isShell ? (
        <IconButton
          icon="play"
          label={ofTranscript.runInTerminal}
          run={() => post({ type: 'run_in_terminal', text: read() })}
        />
      ) : (
        <IconButton icon="diff" label={ofTranscript.apply} run={() => post({ type: 'apply_code', text: read() })} />
      )}
      <IconButton icon="insert" label={ofTranscript.insert} run={() => post({ type: 'insert_code', text: read() })} />
    </>
  );
}

export function drawColoured(part: Coloured): ComponentChildren {
  if (typeof part === 'string') return part;
  return <span class={scopeClass(part.scope)}>{part.children.map(drawColoured)}</span>;
}

/** `title.function` has the style of `title` unless the style sheet has a more specific one. */
function scopeClass(scope: string): string {
  const [first = '', ...more] = scope.split('.');
  return [`hl-${first}`, ...more.map((part) => `hl-${first}-${part}`)].join(' ');
}
