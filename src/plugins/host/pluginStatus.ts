// What the user sees of a plugin: its state, its command and how it ended.
import { type PluginDescription } from '../../protocol/plugin.ts';
import { type PluginEnd } from '../peer.ts';

export type PluginState = 'denied' | 'not_approved' | 'stopped' | 'running' | 'stopping' | 'failed';

/** The status of one plugin. */
export interface PluginStatus {
  readonly name: string;
  readonly state: PluginState;
  /** Why it failed, or how it ended. */
  readonly detail?: string;
  readonly command: readonly string[];
  readonly description?: PluginDescription;
  readonly approve: boolean;
  readonly startsWithWindow: boolean;
  /** True: it attached to the window's socket. */
  readonly attached: boolean;
}

export function describeEnd({ code, reason }: PluginEnd): string {
  const how = code === undefined || code === 0 ? 'It ended.' : `It ended with code ${code}.`;
  return reason === undefined ? how : `${how} ${reason}`;
}
