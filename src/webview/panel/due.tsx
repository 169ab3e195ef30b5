// Loads the list of timers and conditions when there is the first one.
import type { DueView, FollowedView } from '../../protocol/page/handlesView.ts';
import { useLoaded } from '../loaded.ts';

export function Due({ due }: { readonly due: readonly (DueView | FollowedView)[] }) {
  const loaded = useLoaded(due.length > 0, () => import('./dueList.tsx'));
  return loaded === undefined ? null : <loaded.DueList due={due} />;
}
