// What the extension passes to the web chat's plugin in `init.options`.
import * as z from 'zod';

export const webChatOptionsSchema = z.object({
  /** The page must show it with every request. */
  token: z.string().min(32).max(200),
  /** On 127.0.0.1. */
  port: z.int().min(1).max(65_535),
  /** Hosts by which the page may be reached besides this machine's own names: `name` or `name:port`. */
  hosts: z.array(z.string().min(1).max(300)).max(100),
  /** The extension's folder, which has the page's files. */
  root: z.string(),
  language: z.string().max(50),
  version: z.string().max(100),
  hostVersion: z.string().max(100),
  model: z.object({ label: z.string(), detail: z.string(), contextWindow: z.number() }),
});
export type WebChatOptions = z.infer<typeof webChatOptionsSchema>;

/** The path that proves, with a keyed hash of `text`, that an address leads here. */
export const WEB_CHAT_PROBE = 'probe';

/** The name of the plugin that ships; settings cannot configure another one with it. */
export const WEB_CHAT = 'web-chat';
