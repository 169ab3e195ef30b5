// A small ring that shows a share.
import type { Level } from '../../protocol/notification.ts';

const RADIUS = 5.5;
const AROUND = 2 * Math.PI * RADIUS;

interface Properties {
  readonly share: number;
  readonly level: Level;
}

export function Ring({ share, level }: Properties) {
  return (
    <svg class={`ring level-${level}`} viewBox="0 0 14 14" aria-hidden="true">
      <circle class="ring-back" cx="7" cy="7" r={RADIUS} />
      <circle
        class="ring-used"
        cx="7"
        cy="7"
        r={RADIUS}
        stroke-dasharray={`${Math.min(1, share) * AROUND} ${AROUND}`}
        transform="rotate(-90 7 7)"
      />
    </svg>
  );
}
