"""What /api/v1 can be asked. Names may be given with their collection or without: campaigns/c1 or c1."""

# Written by clients/python/generate.py from docs/schema/api-v1.json: change that, not this.

from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import messages


class Operations:
    """A method for each operation of the description; Transport carries them out."""

    def cancel_campaign(self, campaign: str, *, drain: Optional[bool] = None) -> "messages.Campaign":
        """No run starts any more, running ones are asked to stop; samples stay.

        POST /campaigns/{campaign}/cancel, for the role operator.
        Answers Campaign.
        """
        body = {"drain": drain}
        return self._call("POST", "/campaigns/{campaign}/cancel", {"campaign": campaign}, {}, body)

    def cancel_operation(self, operation: str) -> "messages.Operation":
        """It ends without a result.

        POST /operations/{operation}/cancel, for the role publisher.
        Answers Operation.
        """
        return self._call("POST", "/operations/{operation}/cancel", {"operation": operation}, {})

    def check_model_version(
        self,
        model: str,
        version: str,
        *,
        campaign: Optional[str] = None,
        rollback: Optional[bool] = None,
    ) -> "messages.ModelVersion":
        """Whether the network is still as it says, by a campaign that has measured again.

        POST /models/{model}/versions/{version}/check, for the role publisher.
        Answers ModelVersion.
        """
        body = {"campaign": campaign, "rollback": rollback}
        return self._call(
            "POST",
            "/models/{model}/versions/{version}/check",
            {"model": model, "version": version},
            {},
            body,
        )

    def compare_campaigns(
        self,
        campaign: str,
        *,
        with_: str,
        margin: Optional[float] = None,
        false_discoveries: Optional[float] = None,
    ) -> "messages.CompareCampaignsResponse":
        """Another campaign against this one, point by point.

        GET /campaigns/{campaign}/compare, for the role viewer.
        Answers CompareCampaignsResponse.
        """
        return self._call(
            "GET",
            "/campaigns/{campaign}/compare",
            {"campaign": campaign},
            {"with": with_, "margin": margin, "false_discoveries": false_discoveries},
        )

    def compare_model_versions(self, model: str, version: str, *, with_: str) -> Any:
        """Another version against this one.

        GET /models/{model}/versions/{version}/compare, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/compare",
            {"model": model, "version": version},
            {"with": with_},
        )

    def cordon_node(self, node: str, *, reason: Optional[str] = None) -> "messages.Node":
        """It gets no new runs; what it works on goes on.

        POST /nodes/{node}/cordon, for the role operator.
        Answers Node.
        """
        body = {"reason": reason}
        return self._call("POST", "/nodes/{node}/cordon", {"node": node}, {}, body)

    def create_campaign(
        self,
        *,
        request_id: Optional[str] = None,
        spec: Optional["messages.CampaignSpec"] = None,
        validate_only: Optional[bool] = None,
    ) -> "messages.Campaign":
        """A campaign is planned and starts when its nodes are free.

        POST /campaigns, for the role operator.
        Answers Campaign.
        """
        body = {"request_id": request_id, "spec": spec, "validate_only": validate_only}
        return self._call("POST", "/campaigns", {}, {}, body)

    def create_token(
        self,
        *,
        count: Optional[int] = None,
        role: Optional[str] = None,
        subject: Optional[str] = None,
        valid_s: Optional[float] = None,
    ) -> "messages.CreateTokenResponse":
        """A token for a user, or for nodes to enrol with. Its text is in this answer alone.

        POST /tokens, for the role admin.
        Answers CreateTokenResponse.
        """
        body = {"count": count, "role": role, "subject": subject, "valid_s": valid_s}
        return self._call("POST", "/tokens", {}, {}, body)

    def delete_campaign(self, campaign: str) -> "messages.DeleteCampaignResponse":
        """It is forgotten with its samples, once it has ended and no model was fitted to it.

        POST /campaigns/{campaign}/delete, for the role operator.
        Answers DeleteCampaignResponse.
        """
        return self._call("POST", "/campaigns/{campaign}/delete", {"campaign": campaign}, {})

    def drain_node(
        self,
        node: str,
        *,
        reason: Optional[str] = None,
        time_limit_s: Optional[float] = None,
    ) -> "messages.Node":
        """The same, and what it works on ends at the time limit.

        POST /nodes/{node}/drain, for the role operator.
        Answers Node.
        """
        body = {"reason": reason, "time_limit_s": time_limit_s}
        return self._call("POST", "/nodes/{node}/drain", {"node": node}, {}, body)

    def estimate_campaign(self, *, spec: Optional["messages.CampaignSpec"] = None) -> "messages.CampaignEstimate":
        """What a campaign would take and reach. Nothing is created.

        POST /campaigns/estimate, for the role viewer.
        Answers CampaignEstimate.
        """
        body = {"spec": spec}
        return self._call("POST", "/campaigns/estimate", {}, {}, body)

    def explain_decision(self, model: str, version: str, command: str, **options: Any) -> Any:
        """One decision with its reasons.

        GET /models/{model}/versions/{version}/explain/{command}, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/explain/{command}",
            {"model": model, "version": version, "command": command},
            options,
        )

    def fit_model(
        self,
        model: str,
        *,
        campaigns: Optional[List[str]] = None,
        request_id: Optional[str] = None,
        without: Optional[List[str]] = None,
    ) -> "messages.Operation":
        """A version is fitted to what campaigns have measured: an operation.

        POST /models/{model}/fit, for the role publisher.
        Answers Operation.
        """
        body = {"campaigns": campaigns, "request_id": request_id, "without": without}
        return self._call("POST", "/models/{model}/fit", {"model": model}, {}, body)

    def get_campaign(self, campaign: str) -> "messages.Campaign":
        """One campaign.

        GET /campaigns/{campaign}, for the role viewer.
        Answers Campaign.
        """
        return self._call("GET", "/campaigns/{campaign}", {"campaign": campaign}, {})

    def get_comparison_columns(
        self,
        campaign: str,
        *,
        with_: str,
        margin: Optional[float] = None,
        false_discoveries: Optional[float] = None,
    ) -> Any:
        """The same column by column, for hundreds of thousands of points.

        GET /campaigns/{campaign}/compare/columns, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/campaigns/{campaign}/compare/columns",
            {"campaign": campaign},
            {"with": with_, "margin": margin, "false_discoveries": false_discoveries},
        )

    def get_description(self) -> Any:
        """This description.

        GET /openapi.json, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/openapi.json", {}, {})

    def get_gate(self, model: str, version: str) -> Any:
        """Why a label would not name it now, by label; null: it would.

        GET /models/{model}/versions/{version}/gate, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/gate",
            {"model": model, "version": version},
            {},
        )

    def get_history(self, *, from_: Optional[str] = None, to: Optional[str] = None) -> "messages.FleetHistory":
        """What ran on which nodes, and what happened to these.

        GET /history, for the role viewer.
        Answers FleetHistory.
        """
        return self._call("GET", "/history", {}, {"from": from_, "to": to})

    def get_model(self, model: str) -> "messages.Model":
        """One model.

        GET /models/{model}, for the role viewer.
        Answers Model.
        """
        return self._call("GET", "/models/{model}", {"model": model}, {})

    def get_model_file(self, model: str, version: str) -> Any:
        """The model file.

        GET /models/{model}/versions/{version}/file, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/file",
            {"model": model, "version": version},
            {},
        )

    def get_model_version(self, model: str, version: str) -> "messages.ModelVersion":
        """One version.

        GET /models/{model}/versions/{version}, for the role viewer.
        Answers ModelVersion.
        """
        return self._call("GET", "/models/{model}/versions/{version}", {"model": model, "version": version}, {})

    def get_node(self, node: str) -> "messages.Node":
        """One node.

        GET /nodes/{node}, for the role viewer.
        Answers Node.
        """
        return self._call("GET", "/nodes/{node}", {"node": node}, {})

    def get_operation(self, operation: str) -> "messages.Operation":
        """How far one is, or what became of it.

        GET /operations/{operation}, for the role viewer.
        Answers Operation.
        """
        return self._call("GET", "/operations/{operation}", {"operation": operation}, {})

    def get_point_columns(self, campaign: str, *, experiment: str) -> Any:
        """The points of one experiment, column by column.

        GET /campaigns/{campaign}/points/columns, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/campaigns/{campaign}/points/columns",
            {"campaign": campaign},
            {"experiment": experiment},
        )

    def get_point_summary(self, campaign: str) -> Any:
        """How many points of each experiment there are, and how many are measured.

        GET /campaigns/{campaign}/points/summary, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/campaigns/{campaign}/points/summary", {"campaign": campaign}, {})

    def get_points(self, campaign: str) -> Any:
        """What is known of each point so far.

        GET /campaigns/{campaign}/points, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/campaigns/{campaign}/points", {"campaign": campaign}, {})

    def get_samples_of_point(self, campaign: str, point: str) -> Any:
        """Every sample of the point at this place, by run.

        GET /campaigns/{campaign}/points/{point}, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/campaigns/{campaign}/points/{point}", {"campaign": campaign, "point": point}, {})

    def get_server_status(self) -> "messages.ServerStatus":
        """Whether anything can be stored, and what ends soon.

        GET /status, for the role viewer.
        Answers ServerStatus.
        """
        return self._call("GET", "/status", {}, {})

    def import_results(
        self,
        *,
        data: Optional[str] = None,
        last: Optional[bool] = None,
        offset: Optional[str] = None,
        upload: Optional[str] = None,
    ) -> "messages.Campaign":
        """What a plan has brought where no server is reached becomes a campaign; in parts.

        POST /campaigns/import, for the role publisher.
        Answers Campaign.
        """
        body = {"data": data, "last": last, "offset": offset, "upload": upload}
        return self._call("POST", "/campaigns/import", {}, {}, body)

    def label_campaign(self, campaign: str, *, labels: Optional[List[str]] = None) -> "messages.Campaign":
        """Its labels are these from now on.

        POST /campaigns/{campaign}/label, for the role operator.
        Answers Campaign.
        """
        body = {"labels": labels}
        return self._call("POST", "/campaigns/{campaign}/label", {"campaign": campaign}, {}, body)

    def list_audit_events(
        self,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListAuditEventsResponse":
        """What was changed, and by whom, the newest first.

        GET /audit, for the role admin.
        Answers ListAuditEventsResponse.
        """
        return self._call("GET", "/audit", {}, {"page_size": page_size, "page_token": page_token})

    def all_audit_events(self, *, page_size: Optional[int] = None) -> Iterator["messages.AuditEvent"]:
        """The events of all pages of list_audit_events(), which are asked for as they are needed."""
        return self._pages(self.list_audit_events, "events", page_size)

    def list_campaigns(
        self,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListCampaignsResponse":
        """All campaigns, the newest first.

        GET /campaigns, for the role viewer.
        Answers ListCampaignsResponse.
        """
        return self._call("GET", "/campaigns", {}, {"page_size": page_size, "page_token": page_token})

    def all_campaigns(self, *, page_size: Optional[int] = None) -> Iterator["messages.Campaign"]:
        """The campaigns of all pages of list_campaigns(), which are asked for as they are needed."""
        return self._pages(self.list_campaigns, "campaigns", page_size)

    def list_decisions(self) -> Any:
        """Which decisions may be asked for, with their options.

        GET /explain, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/explain", {}, {})

    def list_feedback(
        self,
        model: str,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListFeedbackResponse":
        """What runs reported about its versions, the newest first.

        GET /models/{model}/feedback, for the role viewer.
        Answers ListFeedbackResponse.
        """
        return self._call(
            "GET",
            "/models/{model}/feedback",
            {"model": model},
            {"page_size": page_size, "page_token": page_token},
        )

    def all_feedback(self, model: str, *, page_size: Optional[int] = None) -> Iterator["messages.Feedback"]:
        """The feedback of all pages of list_feedback(), which are asked for as they are needed."""
        return self._pages(self.list_feedback, "feedback", page_size, model=model)

    def list_label_moves(self, model: str) -> Any:
        """What its labels have named, in the order of their moves.

        GET /models/{model}/labels, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/models/{model}/labels", {"model": model}, {})

    def list_model_versions(
        self,
        model: str,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListModelVersionsResponse":
        """Its versions, the newest first.

        GET /models/{model}/versions, for the role viewer.
        Answers ListModelVersionsResponse.
        """
        return self._call(
            "GET",
            "/models/{model}/versions",
            {"model": model},
            {"page_size": page_size, "page_token": page_token},
        )

    def all_model_versions(
        self,
        model: str,
        *,
        page_size: Optional[int] = None,
    ) -> Iterator["messages.ModelVersion"]:
        """The versions of all pages of list_model_versions(), which are asked for as they are needed."""
        return self._pages(self.list_model_versions, "versions", page_size, model=model)

    def list_models(
        self,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListModelsResponse":
        """All models.

        GET /models, for the role viewer.
        Answers ListModelsResponse.
        """
        return self._call("GET", "/models", {}, {"page_size": page_size, "page_token": page_token})

    def all_models(self, *, page_size: Optional[int] = None) -> Iterator["messages.Model"]:
        """The models of all pages of list_models(), which are asked for as they are needed."""
        return self._pages(self.list_models, "models", page_size)

    def list_nodes(
        self,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListNodesResponse":
        """All nodes, by name.

        GET /nodes, for the role viewer.
        Answers ListNodesResponse.
        """
        return self._call("GET", "/nodes", {}, {"page_size": page_size, "page_token": page_token})

    def all_nodes(self, *, page_size: Optional[int] = None) -> Iterator["messages.Node"]:
        """The nodes of all pages of list_nodes(), which are asked for as they are needed."""
        return self._pages(self.list_nodes, "nodes", page_size)

    def list_operations(
        self,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListOperationsResponse":
        """What takes longer than a call, the newest first.

        GET /operations, for the role viewer.
        Answers ListOperationsResponse.
        """
        return self._call("GET", "/operations", {}, {"page_size": page_size, "page_token": page_token})

    def all_operations(self, *, page_size: Optional[int] = None) -> Iterator["messages.Operation"]:
        """The operations of all pages of list_operations(), which are asked for as they are needed."""
        return self._pages(self.list_operations, "operations", page_size)

    def list_runs(self, campaign: str) -> Any:
        """Its runs: where each was, and what became of it.

        GET /campaigns/{campaign}/runs, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call("GET", "/campaigns/{campaign}/runs", {"campaign": campaign}, {})

    def list_sentinels(self, model: str, version: str) -> Any:
        """What sentinels have said of it over time.

        GET /models/{model}/versions/{version}/sentinels, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/sentinels",
            {"model": model, "version": version},
            {},
        )

    def list_tokens(self) -> "messages.ListTokensResponse":
        """All tokens that can be used, and those that could lately.

        GET /tokens, for the role admin.
        Answers ListTokensResponse.
        """
        return self._call("GET", "/tokens", {}, {})

    def list_version_feedback(
        self,
        model: str,
        version: str,
        *,
        page_size: Optional[int] = None,
        page_token: Optional[str] = None,
    ) -> "messages.ListFeedbackResponse":
        """What runs reported about this version, the newest first.

        GET /models/{model}/versions/{version}/feedback, for the role viewer.
        Answers ListFeedbackResponse.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/feedback",
            {"model": model, "version": version},
            {"page_size": page_size, "page_token": page_token},
        )

    def all_version_feedback(
        self,
        model: str,
        version: str,
        *,
        page_size: Optional[int] = None,
    ) -> Iterator["messages.Feedback"]:
        """The feedback of all pages of list_version_feedback(), which are asked for as they are needed."""
        return self._pages(self.list_version_feedback, "feedback", page_size, model=model, version=version)

    def pause_campaign(self, campaign: str) -> "messages.Campaign":
        """No run starts until it is resumed; a running one goes on to its end.

        POST /campaigns/{campaign}/pause, for the role operator.
        Answers Campaign.
        """
        return self._call("POST", "/campaigns/{campaign}/pause", {"campaign": campaign}, {})

    def promote_model_version(
        self,
        model: str,
        version: str,
        *,
        label: Optional[str] = None,
        nodes: Optional[List[str]] = None,
        unjudged_reason: Optional[str] = None,
    ) -> "messages.ModelVersion":
        """A label names it, if it passes the gate; agents are offered it.

        POST /models/{model}/versions/{version}/promote, for the role publisher.
        Answers ModelVersion.
        """
        body = {"label": label, "nodes": nodes, "unjudged_reason": unjudged_reason}
        return self._call(
            "POST",
            "/models/{model}/versions/{version}/promote",
            {"model": model, "version": version},
            {},
            body,
        )

    def remove_node(self, node: str) -> "messages.RemoveNodeResponse":
        """It is forgotten, once its agent is not connected any more.

        POST /nodes/{node}/remove, for the role admin.
        Answers RemoveNodeResponse.
        """
        return self._call("POST", "/nodes/{node}/remove", {"node": node}, {})

    def resume_campaign(self, campaign: str) -> "messages.Campaign":
        """Runs start again.

        POST /campaigns/{campaign}/resume, for the role operator.
        Answers Campaign.
        """
        return self._call("POST", "/campaigns/{campaign}/resume", {"campaign": campaign}, {})

    def retry_campaign(
        self,
        campaign: str,
        *,
        node_budget_s: Optional[float] = None,
        time_budget_s: Optional[float] = None,
    ) -> "messages.Campaign":
        """A failed or cancelled one goes on; finished runs count.

        POST /campaigns/{campaign}/retry, for the role operator.
        Answers Campaign.
        """
        body = {"node_budget_s": node_budget_s, "time_budget_s": time_budget_s}
        return self._call("POST", "/campaigns/{campaign}/retry", {"campaign": campaign}, {}, body)

    def revoke_token(self, token: str) -> "messages.Token":
        """It is not accepted from now on.

        POST /tokens/{token}/revoke, for the role admin.
        Answers Token.
        """
        return self._call("POST", "/tokens/{token}/revoke", {"token": token}, {})

    def rollback_model_label(self, model: str, label: str) -> "messages.ModelVersion":
        """The label names the version of before again.

        POST /models/{model}/labels/{label}/rollback, for the role publisher.
        Answers ModelVersion.
        """
        return self._call("POST", "/models/{model}/labels/{label}/rollback", {"model": model, "label": label}, {})

    def tabulate_decisions(self, model: str, version: str, command: str, **options: Any) -> Any:
        """A table of decisions.

        GET /models/{model}/versions/{version}/decisions/{command}, for the role viewer.
        Answers JSON that docs/http.md explains.
        """
        return self._call(
            "GET",
            "/models/{model}/versions/{version}/decisions/{command}",
            {"model": model, "version": version, "command": command},
            options,
        )

    def uncordon_node(self, node: str) -> "messages.Node":
        """It gets runs again.

        POST /nodes/{node}/uncordon, for the role operator.
        Answers Node.
        """
        return self._call("POST", "/nodes/{node}/uncordon", {"node": node}, {})

    def validate_model_version(
        self,
        model: str,
        version: str,
        *,
        campaigns: Optional[List[str]] = None,
    ) -> "messages.ModelVersion":
        """Campaigns judge it.

        POST /models/{model}/versions/{version}/validate, for the role publisher.
        Answers ModelVersion.
        """
        body = {"campaigns": campaigns}
        return self._call(
            "POST",
            "/models/{model}/versions/{version}/validate",
            {"model": model, "version": version},
            {},
            body,
        )

    def watch_campaign(self, campaign: str, *, cursor: Optional[int] = None) -> Iterator[Tuple[str, Any]]:
        """What happens, until the campaign ends.

        GET /campaigns/{campaign}/events, for the role viewer.
        Answers (event, data) of an event stream.
        """
        return self._events("/campaigns/{campaign}/events", {"campaign": campaign}, {"cursor": cursor})

    def watch_campaigns(self, *, after: str) -> Iterator[Tuple[str, Any]]:
        """What happens to several campaigns, as one stream.

        GET /events, for the role viewer.
        Answers (event, data) of an event stream.
        """
        return self._events("/events", {}, {"after": after})

    def who_am_i(self) -> "messages.WhoAmIResponse":
        """Who the caller is.

        GET /whoami, for the role viewer.
        Answers WhoAmIResponse.
        """
        return self._call("GET", "/whoami", {}, {})

    def withdraw_model_version(
        self,
        model: str,
        version: str,
        *,
        reason: Optional[str] = None,
    ) -> "messages.ModelVersion":
        """It is not to be used any more.

        POST /models/{model}/versions/{version}/withdraw, for the role publisher.
        Answers ModelVersion.
        """
        body = {"reason": reason}
        return self._call(
            "POST",
            "/models/{model}/versions/{version}/withdraw",
            {"model": model, "version": version},
            {},
            body,
        )
