"""The pages' addresses; every one below an agent starts from the person's own agents."""

from django.urls import URLPattern, URLResolver, include, path

from agents.pages import (
    agent_files,
    agents,
    approvals,
    archival,
    archival_changes,
    block_pages,
    blocks,
    chat,
    compactions,
    context,
    conversations,
    custom_tools,
    history,
    images,
    panel,
    passages,
    runs,
    schedules,
    secrets,
    sent_requests,
    shares,
    sharing,
    time_travel,
    tools,
)

block = [
    path("", blocks.edit, name="block_edit"),
    path("settings/", blocks.configure, name="block_settings"),
    path("detach/", blocks.detach, name="block_detach"),
    path("restore/<int:version>/", history.restore, name="block_restore"),
    path("blame/", history.blame_lines, name="block_blame"),
]
run = [
    path("undo/", runs.undo, name="run_undo"),
    path("retry/", runs.retry, name="run_retry"),
    path("queued/", runs.queued, name="run_queued"),
]
archive = [
    path("", archival.show, name="archival"),
    path("older/", archival.older, name="archival_older"),
    path("newer/", archival_changes.newer, name="archival_newer"),
    path("embedding/", archival.embedded, name="archival_embedding"),
    path("add/", passages.add, name="archival_add"),
    path("<int:passage_id>/", passages.edit, name="archival_edit"),
    path("<int:passage_id>/text/", archival.whole, name="archival_whole"),
    path("<int:passage_id>/delete/", passages.delete, name="archival_delete"),
]
past = [
    path("", time_travel.find, name="past_at"),
    path("<int:number>/", time_travel.show, name="past"),
    path("<int:number>/context/<slug:name>/", time_travel.part, name="past_part"),
    path("<int:number>/fork/", time_travel.fork, name="past_fork"),
]
# below an agent they are about its first conversation
of_conversation: list[URLPattern | URLResolver] = [
    path("messages/", runs.send, name="message_send"),
    path("stop/", runs.stop, name="run_stop"),
    path("reflect/", runs.reflect_now, name="reflect"),
    path("compact/", compactions.compact, name="compact"),
    path("panel/<slug:name>/", panel.show, name="panel_tab"),
    path("context/<slug:name>/", context.part, name="context_part"),
    path("past/", include(past)),  # below an agent it is about all of them
]
conversation: list[URLPattern | URLResolver] = [
    path("", chat.chat, name="conversation"),
    path("rename/", conversations.rename, name="conversation_rename"),
    path("archive/", conversations.archive, name="conversation_archive"),
    path("delete/", conversations.delete, name="conversation_delete"),
    *of_conversation,
]
agent: list[URLPattern | URLResolver] = [
    path("", chat.chat, name="agent"),
    path("settings/", agents.change, name="agent_settings"),
    path("schedules/", schedules.index, name="schedules"),
    path("schedules/<uuid:schedule_id>/stop/", schedules.stop, name="schedule_stop"),
    path("secrets/", secrets.index, name="secrets"),
    path("secrets/delete/", secrets.delete, name="secret_delete"),
    path("export/", agent_files.export, name="agent_export"),
    path("sharing/", sharing.index, name="agent_sharing"),
    path("sharing/<int:share_id>/stop/", sharing.stop, name="agent_share_stop"),
    path("sharing/leave/", sharing.leave, name="agent_leave"),
    path("delete/", agents.delete, name="agent_delete"),
    path("restore/", agents.restore, name="agent_restore"),
    # its conversations
    path("conversations/", conversations.index, name="conversations"),
    path("conversations/new/", conversations.new, name="conversation_new"),
    path("conversations/<uuid:conversation_id>/", include(conversation)),
    *of_conversation,
    path("images/", images.add, name="image_add"),
    path("images/<slug:sha256>/", images.show, name="image"),
    path("images/<slug:sha256>/thumbnail/", images.thumbnail, name="image_thumbnail"),
    path("older/<int:run_id>/", runs.older, name="older_runs"),
    path("runs/<int:run_id>/", include(run)),
    path("approvals/<int:approval_id>/", approvals.decide, name="approval_decide"),
    path(
        "compactions/<int:compaction_id>/messages/",
        compactions.messages,
        name="compaction_messages",
    ),
    path(
        "compactions/<int:compaction_id>/summary/", compactions.summary, name="compaction_summary"
    ),
    path("steps/<int:step_id>/feedback/", runs.feedback, name="step_feedback"),
    path("steps/<int:step_id>/request/", sent_requests.show, name="step_request"),
    path("steps/<int:step_id>/request/raw/", sent_requests.raw, name="step_request_raw"),
    # its memory
    path("blocks/new/", blocks.new, name="block_new"),
    path("blocks/attach/", blocks.attach, name="block_attach"),
    path("blocks/<uuid:block_id>/", include(block)),
    path("edits/<int:edit_id>/undo/", blocks.undo, name="block_undo"),
    path("history/older/", history.older, name="older_edits"),
    path("history/newer/", history.newer, name="newer_edits"),
    path("archival/", include(archive)),
    path("compiled/", context.compiled_memory, name="compiled_memory"),
    # its tools
    path("tools/attach/", tools.attach_one, name="tool_attach"),
    path("tools/detach/", tools.detach_one, name="tool_detach"),
    path("tools/rules/", tools.rules, name="tool_rules"),
]
block_page = [
    path("", block_pages.show, name="block"),
    path("value/", block_pages.value, name="block_value"),
    path("settings/", block_pages.configure, name="block_configure"),
    path("history/", block_pages.history, name="block_history"),
    path("history/<int:version>/restore/", block_pages.restore, name="block_version_restore"),
    path("delete/", block_pages.delete, name="block_delete"),
    path("shares/", shares.share, name="share_add"),
    path("shares/<int:share_id>/stop/", shares.stop_sharing, name="share_stop"),
]
tool = [
    path("", custom_tools.edit, name="tool"),
    path("read/", custom_tools.read, name="tool_read"),
    path("try/", custom_tools.try_tool, name="tool_try"),
    path("delete/", custom_tools.delete, name="tool_delete"),
]
urlpatterns = [
    path("", chat.home, name="home"),
    path("agents/new/", agents.new, name="agent_new"),
    path("agents/new/blocks/", agents.new_block, name="agent_new_block"),
    path("agents/new/first-blocks/", agents.new_first_blocks, name="agent_new_first_blocks"),
    path("agents/import/", agent_files.import_, name="agent_import"),
    path("agents/imported/", agent_files.imported, name="agent_imported"),
    path("agents/deleted/", agents.deleted, name="agents_deleted"),
    path("agents/<uuid:agent_id>/", include(agent)),
    path("blocks/", block_pages.index, name="blocks"),
    path("blocks/new/", block_pages.new, name="blocks_new"),
    path("blocks/<uuid:block_id>/", include(block_page)),
    path("tools/", custom_tools.index, name="tools"),
    path("tools/new/", custom_tools.new, name="tool_new"),
    path("tools/read/", custom_tools.read, name="tool_read_new"),
    path("tools/try/", custom_tools.try_tool, name="tool_try_new"),
    path("tools/<uuid:tool_id>/", include(tool)),
]
