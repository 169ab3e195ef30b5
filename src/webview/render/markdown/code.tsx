// A code block with its language, a copy button, and highlighting once it is complete.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Growing, wholeText } from '../../growing.ts';
import { memo } from '../../memo.ts';
import { strings } from '../../strings.ts';
import { CopyButton } from '../copyButton.tsx';
import { GrowingText } from './growingText.tsx';
import { type Coloured, highlight } from './highlight.ts';

export const CodeBlock = memo(function CodeBlock({
  text,
  language,
}: {
  readonly text: string;
  readonly language: string;
}) {
  const coloured = useMemo(() => highlight(text, language), [text, language]);
  return (
    <CodeFrame language={language} read={() => text}>
      <code>{coloured === undefined ? text : coloured.map(drawColoured)}</code>
    </CodeFrame>
  );
});

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
        <CopyButton label={strings.copy} read={read} />
      </div>
      <pre tabIndex={0} role="group" aria-label={`${strings.code} ${language}`.trim()}>
        {children}
      </pre>
    </div>
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
