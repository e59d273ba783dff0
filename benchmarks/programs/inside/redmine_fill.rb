# Fills a tracker from what CONTENT holds: projects with issues, wikis, forums, news and documents.

require "json"

srand(81)
content = JSON.parse(File.read(ENV.fetch("CONTENT")))
words, titles, texts = content.values_at("words", "titles", "texts")
ActionMailer::Base.perform_deliveries = false
Setting.notified_events = []
Redmine::DefaultData::Loader.load("en")
users = content["people"].map do |name|
  login = name.downcase
  user = User.new(firstname: name, lastname: "Example", mail: "#{login}@example.org")
  user.login = login
  user.password = user.password_confirmation = "a-long-Password-1"
  user.save!
  user
end
trackers, statuses, priorities = Tracker.all.to_a, IssueStatus.sorted.to_a, IssuePriority.all.to_a

content["projects"].each_with_index do |given, number|
  project = Project.new(
    name: given["name"], identifier: "project-#{number}", description: given["text"]
  )
  project.enabled_module_names = %w[issue_tracking news documents files wiki boards calendar gantt]
  project.trackers = trackers
  project.save!
  members = users.sample(6)
  members.each do |user|
    Member.create!(project: project, principal: user, roles: [Role.givable.first])
  end
  categories = words.sample(4).map { |word| IssueCategory.create!(project: project, name: word) }
  versions = %w[1.0 1.1 2.0].map { |name| Version.create!(project: project, name: name) }
  given["issues"].each do |subject|
    issue = Issue.create!(
      project: project, tracker: trackers.sample, author: members.sample, subject: subject,
      description: texts.sample, priority: priorities.sample, status: statuses.first,
      category: categories.sample, fixed_version: [nil, *versions].sample,
      assigned_to: [nil, *members].sample
    )
    rand(4).times do
      # As it is after the last change.
      issue = Issue.find(issue.id)
      issue.init_journal(members.sample, texts.sample)
      issue.status = statuses.sample
      issue.save!
    end
  end
  5.times do
    shown = { project: project, title: titles.sample, description: texts.sample }
    News.create!(author: members.sample, **shown)
    Document.create!(category: DocumentCategory.first, **shown)
  end
  wiki = project.wiki || Wiki.create!(project: project, start_page: "Wiki")
  pages = ["Wiki", *titles.sample(8)]
  pages.each do |title|
    rand(1..4).times do |version|
      page = wiki.find_page(title) || WikiPage.new(wiki: wiki, title: title)
      text = page.content || WikiContent.new(page: page)
      parts = [text.text || "h1. #{title}", texts.sample, "[[#{pages.sample}]]"]
      text.text = parts.join("\n\n")
      text.author = members.sample
      text.comments = words.sample
      page.save_with_content(text)
    end
  end
  board = Board.create!(project: project, name: words.sample, description: titles.sample)
  8.times do
    topic = Message.create!(
      board: board, subject: titles.sample, content: texts.sample, author: members.sample
    )
    rand(30).times do
      Message.create!(
        board: board, parent: topic, subject: "RE", content: texts.sample, author: members.sample
      )
    end
  end
end
