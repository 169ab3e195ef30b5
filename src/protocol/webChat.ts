// The options that the extension passes to the web chat's plugin in `init.options`.
import * as z from 'zod';
import { folderFactsSchema } from './page/folderView.ts';

export const webChatOptionsSchema = z.object({
  /** Links, the tokens of pages and proofs are made with it. It is never sent to a page, nor part of a link. */
  key: z.string().min(32).max(200),
  /** The port on 127.0.0.1. */
  port: z.int().min(1).max(65_535),
  /** Hosts, in addition to this machine's own names, by which the page may be reached: `name` or `name:port`. */
  hosts: z.array(z.string().min(1).max(300)).max(100),
  /** The extension's folder, which has the page's files. */
  root: z.string(),
  language: z.string().max(50),
  version: z.string().max(100),
  hostVersion: z.string().max(100),
  model: z.object({ label: z.string(), detail: z.string(), contextWindow: z.number() }),
  /** The name of the open folder; absent: none is open. */
  folder: z.string().max(1000).optional(),
  /** Absent: not known, so the page suggests nothing. */
  folderFacts: folderFactsSchema.optional(),
});
export type WebChatOptions = z.infer<typeof webChatOptionsSchema>;

/** The path that proves, with a keyed hash of `text`, that an address leads to this server. */
export const WEB_CHAT_PROBE = 'probe';

/** The path where a page exchanges the code of its link for its token. */
export const WEB_CHAT_EXCHANGE = 'exchange';

/** Time to confirm that the link is opened, to start a browser, or to send the link to a phone. */
export const LINK_VALID_MILLISECONDS = 5 * 60_000;

/** The header of a refusal, with this value if a process that a command of Earshot has started sent the request. */
export const WEB_CHAT_REFUSED = 'x-earshot-refused';
export const REFUSED_COMMAND = 'command';

/** What is hashed with the key: the beginning distinguishes the uses, so that none can be passed off as another. */
export const hashedTexts = {
  probe: (text: string) => `probe ${text}`,
  /** `issued`: milliseconds since 1970. */
  link: (id: string, issued: string) => `link ${id} ${issued}`,
  page: (link: string) => `page ${link}`,
};

/** The name of the built-in plugin; settings cannot configure another plugin with this name. */
export const WEB_CHAT = 'web-chat';
