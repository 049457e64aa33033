"""Which fields of `letta-client` act without being returned, each with a test that shows it.

The names are patterns of `METHOD /address field`; a field that is returned as it was sent, that is
refused, or that the header `Memoryweb-Notes` names needs none.
"""

LISTED = "tests.api.test_agents::test_a_list_is_gone_through_to_its_end_both_ways"
FOUND = "tests.api.test_agents::test_agents_are_found_by_name_and_tags"
SENT = "tests.api.test_messages::test_several_messages_of_several_roles_are_one_run"
SHOWN = "tests.api.test_messages::test_send_message_can_be_shown_as_the_call_it_is"
STREAMED = "tests.api.test_streams::test_a_stream_ends_as_the_wire_says"
GONE_ON = "tests.api.test_streams::test_a_broken_stream_goes_on_where_it_broke"
TYPED = "tests.api.test_agent_types::test_a_script_may_do_without_base_tools_and_rules"
BLOCKS = "tests.api.test_memory::test_blocks_are_listed_by_what_is_asked"
WHOSE = "tests.api.test_identities::test_agents_are_made_changed_and_found_by_their_identities"
TOOLS = "tests.api.test_tools::test_tools_are_listed_with_those_that_come_along"
PASSAGES = "tests.api.test_memory::test_passages_are_put_away_found_changed_and_deleted"
RUNS = "tests.api.test_filters::test_runs_and_steps_are_found_by_agent_end_model_and_time"
TOOL_FILTERS = "tests.api.test_filters::test_tools_are_found_by_id_kind_and_words"
FOUND_TOOLS = "tests.api.test_tool_schemas::test_tools_are_found_by_words_the_best_first"
REST = "tests.api.test_filters::test_blocks_passages_and_messages_are_found_by_the_rest"
TALKS = "tests.api.test_conversations::test_a_conversation_is_made_changed_listed_and_deleted"
DEFAULT = (
    "tests.api.test_conversations::"
    "test_messages_are_streamed_or_answered_whole_and_listed_by_conversation"
)
JUDGED = "tests.api.test_feedback::test_a_step_is_judged_and_found_by_its_feedback"
ARCHIVES = "tests.api.test_archives::test_an_agents_archival_memory_is_an_archive"
ACROSS = "tests.api.test_across_agents::"
MADE = "tests.api.test_agents::test_an_agent_is_made_with_everything"

ACTS = {
    r"GET \S+ (limit|after|before|order|ascending)": LISTED,
    r"GET /agents/ (name|query_text|tags|match_all_tags)": FOUND,
    r"GET /agents/ last_stop_reason": RUNS,
    r"GET (/agents/|/agents/\{id\}|/blocks/\{id\}/agents) include(_relationships)?": (
        "tests.api.test_hidden::test_an_agent_is_shown_with_the_parts_that_are_asked_for"
    ),
    r"POST /agents/ include_multi_agent_tools": TYPED,
    r"POST \S+/messages(/\w+)? messages\.sender_id": (
        "tests.api.test_hidden::test_who_sent_a_message_is_kept_and_returned"
    ),
    r"GET /runs/ background": (
        "tests.api.test_hidden::test_a_run_says_whether_its_script_waits_for_it"
    ),
    r"GET /conversations/ (agent_id|archive_status|order_by|summary_search)": TALKS,
    r"(GET|POST) /conversations/\{id\}/messages agent_id": DEFAULT,
    r"GET \S+ conversation_id": DEFAULT,
    r"POST /conversations/ agent_id": TALKS,
    r"POST /conversations/\{id\}/stream (agent_id|run_id|otid|starting_after|include_pings)": (
        "tests.api.test_conversations::test_a_stream_is_taken_up_again"
    ),
    r"POST /conversations/\{id\}/(cancel|fork|compact|recompile) (agent_id|hidden|message_id)": (
        "tests.api.test_conversations::test_a_conversation_is_forked_compacted_and_compiled"
    ),
    r"GET /agents/ (identity_id|identifier_keys)": WHOSE,
    r"GET /agents/\{id\}/archival-memory search": PASSAGES,
    r"GET /agents/\{id\}/archival-memory/search \w+": REST,
    r"GET /agents/\{id\}/export scrub_messages": (
        "tests.api.test_agent_files::test_an_export_can_leave_out_all_that_was_said"
    ),
    r"GET /agents/\{id\}/export conversation_id": (
        "tests.api.test_agent_files::test_one_conversation_is_exported_and_of_several_it_is_said"
    ),
    r"GET \S+/messages (use_assistant|assistant_|include_return_)\w+": SHOWN,
    r"GET /blocks/ (label|name|(label|value)_search)": BLOCKS,
    r"GET /blocks/ (templates_only|description_search)": REST,
    r"GET /blocks/ (identity_id|identifier_keys)": (
        "tests.api.test_identities::test_blocks_are_found_by_their_identities"
    ),
    r"GET /(runs|steps)/ (agent_ids?|statuses|stop_reason|active|model|start_date|end_date)": RUNS,
    r"GET /steps/ (has_)?feedback": JUDGED,
    r"GET /tags/ query_text": "tests.api.test_tools::test_what_there_is",
    r"GET /tags/ name": REST,
    r"GET /tools/ (names?|return_only_letta_tools|tool_types)": TOOLS,
    r"GET /tools/ (search|tool_ids|exclude_tool_types)": TOOL_FILTERS,
    r"POST /agents/\{id\}/tools/\{id\}/run args": (
        "tests.api.test_tool_schemas::test_an_agents_tool_is_called_and_what_it_changes_is_kept"
    ),
    r"POST /tools/search (query|search_mode|tags|tool_types)": FOUND_TOOLS,
    r"PATCH /agents/\{id\}/tools/approval/\{id\} requires_approval": (
        "tests.api.test_runs::test_a_call_that_needs_approval_waits_for_it"
    ),
    r"(POST|PATCH) /conversations/(\{id\})? model_settings\.effort": (
        "tests.api.test_conversations::test_a_conversation_asks_its_model_in_its_own_way"
    ),
    r"(POST|PATCH) /agents/(\{id\})? (max_tokens|parallel_tool_calls|model_settings\.effort)": (
        "tests.api.test_model_settings::test_settings_of_every_form_reach_the_endpoint"
    ),
    r"(POST|PATCH) /agents/(\{id\})? (secrets|tool_exec_environment_variables)": (
        "tests.api.test_secrets::test_a_custom_tool_reads_the_agents_secrets_which_nobody_sees"
    ),
    r"POST \S+/messages(/\w+)? override_model": (
        "tests.api.test_overrides::test_another_model_answers_one_message"
    ),
    r"POST \S+/messages(/\w+)? override_system": (
        "tests.api.test_overrides::test_another_system_message_is_sent_with_one_message"
    ),
    r"POST \S+/messages(/\w+)? client_skills\.(name|description|location)": (
        "tests.api.test_overrides::test_a_scripts_skills_are_listed_in_the_system_message"
    ),
    r"POST /agents/ include_base_tool(s|_rules)": TYPED,
    r"POST /agents/ initial_message_sequence\.(type|role|content(\.(type|text))?)": (
        "tests.api.test_agents::test_a_first_message_is_seen_by_the_model"
    ),
    r"POST /agents/ memory_blocks\.(value|label|limit|description|read_only|metadata|tags)": MADE,
    r"POST /agents/ memory_blocks\.template_name": MADE,
    r"POST \S+/messages(/\w+)? (input|messages\.(type|role|content))(\.(type|text))?": SENT,
    r"POST \S+/messages(/\w+)? messages\.otid": (
        "tests.api.test_messages::test_a_message_of_the_same_otid_is_sent_once"
    ),
    r"POST \S+/messages(/\w+)? (use_assistant|assistant_|include_return_)\w+": SHOWN,
    r"POST \S+/messages(/\w+)? client_tools\.(name|description|parameters)": (
        "tests.api.test_client_tools::test_a_script_runs_its_own_tool_and_the_run_goes_on"
    ),
    r"POST \S+/messages(/\w+)? max_steps": (
        "tests.api.test_messages::test_a_request_has_a_limit_of_steps_of_its_own"
    ),
    r"POST \S+/messages(/\w+)? (streaming|stream_tokens|include_pings|background)": STREAMED,
    r"POST /agents/\{id\}/schedule (callback_url|include_return_message_types|messages\.\S+)": (
        "tests.api.test_schedules::test_what_a_script_says_of_a_schedule_reaches_its_runs"
    ),
    r"POST /messages/search (query|agent_id|limit|start_date|end_date)": REST,
    r"POST /messages/search (conversation_id|search_mode)": (
        f"{ACROSS}test_messages_of_one_conversation_are_listed_and_searched"
    ),
    r"GET /archives/ (agent_id|name)": ARCHIVES,
    r"POST /archives/\{id\}/passages/batch passages\.\w+": ARCHIVES,
    r"GET /messages/ include_return_message_types": (
        f"{ACROSS}test_messages_of_all_agents_are_one_list_the_newest_first"
    ),
    r"POST /passages/search \w+": (
        f"{ACROSS}test_passages_of_all_agents_are_searched_by_words_tags_and_time"
    ),
    r"POST /runs/\{id\}/stream (starting_after|include_pings)": GONE_ON,
}
