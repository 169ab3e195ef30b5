// What all conversations of a window share: the ports, and the background commands, which core itself keeps.
import { type Ports } from '../ports/ports.ts';
import { type Handles } from './handles.ts';

export interface Services extends Ports {
  /** Absent: no commands can be run. */
  readonly handles?: Handles;
}
