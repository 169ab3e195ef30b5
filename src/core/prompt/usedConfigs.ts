// Remembers the configuration of each conversation's last request; the log has it only if it has ever changed.
import { type EventDraft } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type RequestConfig } from '../ports/producers.ts';

export class UsedConfigs {
  readonly #used = new Map<string, RequestConfig>();

  of(log: ConversationLog): Partial<RequestConfig> {
    return this.#used.get(log.id) ?? log.state.sampled.used;
  }

  /** Call before the request with this configuration. Without a change no event is appended. */
  async use(log: ConversationLog, config: RequestConfig): Promise<void> {
    const before = this.of(log);
    this.#used.set(log.id, config);
    // The servers of the first request must be in the log, because the conversation subscribes to them.
    const isFirst = before.tools === undefined;
    if (isFirst ? config.servers.length === 0 : JSON.stringify(before) === JSON.stringify(config)) return;
    const { model, mode, tools, servers, instructions, skills } = config;
    const used: EventDraft = {
      type: 'config_used',
      model,
      mode,
      tools: [...tools],
      ...(servers.length > 0 && { servers: servers.map((server) => ({ ...server, tools: { ...server.tools } })) }),
      instructions: instructions.map((file) => ({ ...file })),
      ...(skills.length > 0 && { skills: skills.map((skill) => ({ ...skill })) }),
    };
    await log.append(used);
  }
}
