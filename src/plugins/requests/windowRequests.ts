// Requests about the window: its models and modes, completions, and images for messages.
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, DONE, refuse, reply } from './answer.ts';

/** The types that endpoints accept; `core/agent/userText.ts` checks the same ones. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const LARGEST_IMAGE = 10_000_000;

export async function listModels({ controls }: PluginPorts, { all }: RequestOf<'list_models'>): Promise<Answer> {
  const data = all === true ? await controls.models() : [];
  const { label, detail, contextWindow } = controls.model();
  return reply({ type: 'models', current: { label, detail, context_window: contextWindow }, data: [...data] });
}

export async function choose(
  { controls }: PluginPorts,
  { model, mode, approvals }: RequestOf<'choose'>,
): Promise<Answer> {
  if (model !== undefined) {
    const isChosen = await controls.chooseModel(model);
    if (!isChosen) return refuse('model: there is no such model. List the models again.');
  }
  if (mode !== undefined) await controls.set('mode', mode);
  if (approvals !== undefined) await controls.set('approvals.mode', approvals);
  return DONE;
}

export async function complete({ controls }: PluginPorts, { trigger, query }: RequestOf<'complete'>): Promise<Answer> {
  return reply({ type: 'completions', data: [...(await controls.complete(trigger, query))] });
}

/** The images that one plugin has stored. It cannot attach other snapshots by their hash. */
export class StoredImages {
  readonly #hashes = new Set<string>();

  async store({ snapshots }: PluginPorts, { media_type: type, data }: RequestOf<'store_image'>): Promise<Answer> {
    if (!IMAGE_TYPES.has(type)) return refuse('media_type: models take PNG, JPEG, GIF and WebP.');
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length === 0) return refuse('data: there is nothing in it.');
    if (bytes.length > LARGEST_IMAGE) return refuse('data: the image is larger than 10 MB.');
    const hash = await snapshots.put(bytes);
    this.#hashes.add(hash);
    return reply({ type: 'image', hash });
  }

  /** Why these attachments are refused. */
  whyNot(attachments: readonly GivenAttachment[] = []): string | undefined {
    const unknown = attachments.findIndex(
      (one) => one.type === 'image' && !('hash' in one && this.#hashes.has(one.hash)),
    );
    return unknown === -1 ? undefined : `attachments.${unknown}: this image was not stored with store_image.`;
  }
}
