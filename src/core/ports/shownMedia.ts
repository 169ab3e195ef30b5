// Images and recordings in results of tools.
import { type CardMediaType } from '../../protocol/page/cardMedia.ts';

/** Shown on the card of the call; images also to a model that takes them. */
export interface ShownMedia {
  readonly mediaType: CardMediaType;
  readonly bytes: Uint8Array;
  /** Absent: it has none. */
  readonly name?: string;
}
