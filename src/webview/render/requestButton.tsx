// The button of an answer or a call that shows the request as it was sent.
import { strings } from '../strings/strings.ts';
import { useActions } from './actions.ts';
import { IconButton } from './icons.tsx';

export function RequestButton({ item }: { readonly item: string }) {
  const { post, offers } = useActions();
  if (!offers('show_request')) return null;
  return <IconButton icon="list-tree" label={strings.showRequest} run={() => post({ type: 'show_request', item })} />;
}
