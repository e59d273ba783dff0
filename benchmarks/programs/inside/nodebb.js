// Fills a NodeBB that is installed in a folder with forums, people, topics and posts.
const { readFileSync } = require('fs');
const { resolve } = require('path');

const [root, texts] = process.argv.slice(2);
const the = name => require(resolve(root, name));

async function fill() {
	process.chdir(root);
	the('require-main');
	the('node_modules/nconf').argv().env({ separator: '__' });
	const prestart = the('src/prestart');
	prestart.loadConfig(resolve(root, 'config.json'));
	prestart.setupWinston();
	await the('src/database').init();
	await the('src/meta').configs.init();
	const users = the('src/user');
	const categories = the('src/categories');
	const topics = the('src/topics');
	const posts = the('src/posts');
	const content = JSON.parse(readFileSync(texts, 'utf8'));

	const uids = [];
	for (const username of content.people) {
		uids.push(await users.create({ username }));
	}
	const cids = [];
	for (const { name, about } of content.forums) {
		cids.push((await categories.create({ name, description: about })).cid);
	}
	for (const topic of content.topics) {
		const [first] = topic.posts;
		const tid = await topics.create({
			uid: uids[first.by],
			cid: cids[topic.forum],
			title: topic.title,
			timestamp: first.time * 1000,
		});
		for (const { by, time, text } of topic.posts) {
			await posts.create({ uid: uids[by], tid, content: text, timestamp: time * 1000 });
		}
	}
}

fill().then(() => process.exit(0), (error) => {
	console.error(error);
	process.exit(1);
});
