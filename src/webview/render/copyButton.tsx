// A button that copies text and confirms it.
import { useEffect, useState } from 'preact/hooks';
import { strings } from '../strings/strings.ts';
import { useActions } from './actions.ts';
import { IconButton } from './icons.tsx';

export function CopyButton({ label, read }: { readonly label: string; readonly read: () => string }) {
  const actions = useActions();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    actions.copy(read()).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return <IconButton icon={copied ? 'check' : 'copy'} label={copied ? strings.copied : label} run={copy} />;
}
