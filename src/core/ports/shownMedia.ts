// Images and recordings in results of tools.
import { type CardMediaType } from '../../protocol/page/cardMedia.ts';

/** Shown on the card of the call, but not to the model. */
export interface ShownMedia {
  readonly mediaType: CardMediaType;
  readonly bytes: Uint8Array;
}
